//! Work that an apply leaves to later runs.

use groma_diagnostics::Diagnostic;
use groma_engine::Plan;

use super::context::Context;

/// The warning that some of what the configuration asks for is left to a later run.
pub(super) fn deferred_warning(context: &Context, plan: &Plan) -> Diagnostic {
    let left = match (plan.deferred.len(), plan.deferred_invocations.len()) {
        (1, 0) => "1 change was".to_owned(),
        (changes, 0) => format!("{changes} changes were"),
        (0, 1) => "1 action was".to_owned(),
        (0, actions) => format!("{actions} actions were"),
        (changes, actions) => format!("{changes} of the changes and {actions} of the actions were"),
    };
    let detail = format!(
        "{left} deferred, since they depend on what was not known before this run. Run \"{} apply -allow-deferral\" again to go \
         on.",
        context.wording.command
    );
    Diagnostic::warning("Some changes are still to be made", detail)
}

/// The warning that flags have narrowed what was planned.
pub(super) fn incomplete_warning(context: &Context, plan: &Plan) -> Diagnostic {
    let command = &context.wording.command;
    let (covered, option) = match plan.excludes.as_slice() {
        [] => ("only what -target names and what that depends on", "-target"),
        _ => ("neither what -exclude names nor what depends on that", "-exclude"),
    };
    Diagnostic::warning(
        "Applied changes may be incomplete",
        format!(
            "This plan covered {covered}. Other changes of the configuration \
             may still be open, and outputs may be out of date. To see what is left, run:\n    {command} \
             plan\n\nKeep {option} for emergencies, such as getting past an error or a mistake, or for when a \
             message of {} advises it.",
            context.wording.product
        ),
    )
}
