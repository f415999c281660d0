//! Planned changes of output values.

use std::fmt::Write as _;

use groma_engine::{Action, OutputChange, Plan};
use groma_value::Value;

use crate::terminal::Palette;
use crate::views::difference::{Change, Difference, RenderOptions, Writer, attribute_key, compare_values};
use crate::views::redaction::Redaction;

/// Renders the changed outputs, one per line. Returns an empty string without changed outputs.
pub(super) fn render(plan: &Plan, palette: Palette, redaction: Redaction) -> String {
    let changed: Vec<(String, Difference)> = plan
        .outputs
        .iter()
        .filter(|output| output.action != Action::NoOp)
        .map(|output| (attribute_key(&output.name), compare(output, redaction)))
        .filter(|(_, difference)| difference.change != Change::None)
        .collect();
    // As in Terraform, unchanged outputs also determine the width of the name column.
    let width = plan.outputs.iter().map(|output| attribute_key(&output.name).len()).max().unwrap_or_default();
    let mut out = String::new();
    for (index, (key, difference)) in changed.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        Writer::new(palette, &mut out).symbol(difference.change);
        let _ = write!(out, "{key:<width$} = ");
        Writer::new(palette, &mut out).difference(difference, 0, RenderOptions::default());
    }
    out
}

fn compare(output: &OutputChange, redaction: Redaction) -> Difference {
    let shown = |value| if output.sensitive { redaction.of_sensitive(value) } else { redaction.of(value) };
    let (before, after) = (shown(&output.before), shown(&output.after));
    // A null output is absent: the state does not store it.
    let there = |value: &'_ Value| !value.is_null();
    compare_values(there(&before).then_some(&before), there(&after).then_some(&after))
}
