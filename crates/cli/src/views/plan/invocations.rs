//! Planned action invocations.

use groma_engine::plan::{Cause, Invocation};
use groma_engine::{Plan, ResourceChange};

use crate::terminal::{Palette, Tone};
use crate::views::difference::{Paths, Relevance, RenderOptions, Writer, compare_objects};

const UNCHANGED: RenderOptions = RenderOptions {
    hides_null: true,
    forces_replacement: false,
    shows_unchanged: true,
    hides_symbols: true,
    signs_zero: false,
};

/// Appends the actions that a change triggers: those before it, then those after it.
pub(super) fn write_around(plan: &Plan, change: &ResourceChange, palette: Palette, out: &mut String) {
    if change.deposed.is_some() {
        return;
    }
    for (is_before, word) in [(true, "before"), (false, "after")] {
        let mut invocations = plan.invocations.iter().filter(|invocation| {
            let trigger = invocation.trigger();
            trigger.is_some_and(|(resource, event)| *resource == change.address && event.is_before() == is_before)
        });
        let Some(first) = invocations.next() else { continue };
        out.push_str(&format!("\n    # Actions to be invoked {word} this change in order:\n"));
        for invocation in std::iter::once(first).chain(invocations) {
            write_action(invocation, palette, out);
        }
        out.push('\n');
    }
}

/// Returns the invocations that `-invoke` requests.
pub(super) fn requested(plan: &Plan) -> impl Iterator<Item = &Invocation> {
    plan.invocations.iter().filter(|invocation| invocation.cause == Cause::Request)
}

/// Appends an invocation that `-invoke` requests.
pub(super) fn write_requested(invocation: &Invocation, palette: Palette, out: &mut String) {
    let comment = format!("  # {} will be invoked", invocation.action);
    out.push_str(&palette.paint(Tone::Bold, comment).to_string());
    out.push('\n');
    write_action(invocation, palette, out);
}

/// Appends an action with its configuration.
pub(super) fn write_action(invocation: &Invocation, palette: Palette, out: &mut String) {
    let action = &invocation.action;
    out.push_str(&format!("    action \"{}\" \"{}\" {{\n        config ", action.type_name, action.name));
    let block = &invocation.schema.block;
    let difference = compare_objects(block, &invocation.config, &invocation.config, Paths::default(), Relevance::All);
    Writer::new(palette, out).difference(&difference, 2, UNCHANGED);
    out.push_str("\n    }\n");
}
