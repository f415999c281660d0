//! Changes of output values.

use std::fmt::Write as _;

use groma_engine::{Action, OutputChange, Plan};
use groma_value::Value;

use crate::terminal::Palette;
use crate::views::difference::{Change, Difference, Manner, Writer, attribute_key, compare_values};
use crate::views::secrecy::Secrecy;

/// The outputs that change, one below the other; empty when none does.
pub(super) fn render(plan: &Plan, palette: Palette, secrecy: Secrecy) -> String {
    let changed: Vec<(String, Difference)> = plan
        .outputs
        .iter()
        .filter(|output| output.action != Action::NoOp)
        .map(|output| (attribute_key(&output.name), compare(output, secrecy)))
        .filter(|(_, difference)| difference.change != Change::None)
        .collect();
    // Unchanged outputs take part in the alignment too.
    let width = plan.outputs.iter().map(|output| attribute_key(&output.name).len()).max().unwrap_or_default();
    let mut out = String::new();
    for (index, (key, difference)) in changed.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        Writer::new(palette, &mut out).symbol(difference.change);
        let _ = write!(out, "{key:<width$} = ");
        Writer::new(palette, &mut out).difference(difference, 0, Manner::default());
    }
    out
}

fn compare(output: &OutputChange, secrecy: Secrecy) -> Difference {
    let shown = |value| if output.sensitive { secrecy.of_secret(value) } else { secrecy.of(value) };
    let (before, after) = (shown(&output.before), shown(&output.after));
    let there = |value: &'_ Value| !value.is_null();
    compare_values(there(&before).then_some(&before), there(&after).then_some(&after))
}
