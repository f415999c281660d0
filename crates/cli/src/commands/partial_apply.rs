//! Warnings about changes that an apply did not make.

use groma_diagnostics::Diagnostic;
use groma_engine::Plan;

use super::context::Context;

/// Warns that some changes were deferred to a later run.
pub(super) fn deferred_warning(context: &Context, plan: &Plan) -> Diagnostic {
    let left = match (plan.deferred.len(), plan.deferred_invocations.len()) {
        (1, 0) => "1 change was".to_owned(),
        (changes, 0) => format!("{changes} changes were"),
        (0, 1) => "1 action was".to_owned(),
        (0, actions) => format!("{actions} actions were"),
        (changes, actions) => format!("{changes} of the changes and {actions} of the actions were"),
    };
    let detail = format!(
        "{left} deferred, because they depend on values that were unknown before this run. To continue, run \"{} apply \
         -allow-deferral\" again.",
        context.wording.command
    );
    Diagnostic::warning("Some changes were deferred", detail)
}

/// Warns that `-target` or `-exclude` limited the plan.
pub(super) fn incomplete_warning(context: &Context, plan: &Plan) -> Diagnostic {
    let command = &context.wording.command;
    let (limit, option) = match plan.excludes.as_slice() {
        [] => ("only includes the -target addresses and their dependencies", "-target"),
        _ => ("does not include the -exclude addresses and their dependents", "-exclude"),
    };
    Diagnostic::warning(
        "Applied changes may be incomplete",
        format!(
            "The plan {limit}. Other changes in the configuration may still be pending, and outputs may be outdated. To \
             see the pending changes, run:\n    {command} plan\n\nDo not use {option} routinely. It helps to recover from errors, and \
             where {} advises it.",
            context.wording.product
        ),
    )
}
