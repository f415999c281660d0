//! The summary at the end of an apply, destroy or refresh, with warnings about changes that were not made.

use std::path::Path;

use groma_diagnostics::Diagnostic;
use groma_engine::Plan;
use groma_engine::plan::Counts;
use groma_state::State;

use super::ready::Kind;
use crate::commands::context::Context;
use crate::commands::output;
use crate::terminal::Tone;
use crate::views::json::Counted;

/// Reports the number of changes and the outputs, and `state_out` if that flag redirected the state.
pub(super) fn report_done(context: &Context, kind: Kind, counts: Counts, state: &State, state_out: Option<&Path>) {
    // The stream of -json-into is written too, while the text below goes to standard output.
    for stream in context.json_streams() {
        match kind {
            Kind::Destroy => stream.counts(counts, Counted::Destroy),
            Kind::Refresh => stream.outputs(output::stream_json(state)),
            Kind::Apply => {
                stream.counts(counts, Counted::Apply);
                stream.outputs(output::stream_json(state));
            }
        }
    }
    // With -json, standard output contains only messages.
    if context.messages().is_some() {
        return;
    }
    let palette = context.palette();
    let text = match kind {
        Kind::Refresh => String::new(),
        Kind::Destroy => format!("Destroy complete! Resources: {} destroyed.", counts.destroy),
        Kind::Apply => format!(
            "Apply complete! Resources: {}{} added, {} changed, {} destroyed.{}",
            if counts.import > 0 { format!("{} imported, ", counts.import) } else { String::new() },
            counts.add,
            counts.change,
            counts.destroy,
            if counts.invoke > 0 { format!(" Actions: {} invoked.", counts.invoke) } else { String::new() }
        ),
    };
    if !text.is_empty() {
        context.streams.print(&format!("\n{}\n", palette.paint(Tone::BoldGreen, text)));
    }
    // Terraform prints the path only for an apply that created or updated something.
    if let Some(path) = state_out.filter(|_| kind == Kind::Apply && counts.add + counts.change > 0) {
        context.streams.print(&format!(
            "\nThe state was written to this file instead of the backend. Keep the file: changing or destroying this\n\
             infrastructure requires it.\n\nState path: {}\n",
            path.display()
        ));
    }
    // As in Terraform, a destroy lists no outputs: it removes them.
    if kind != Kind::Destroy && !state.outputs.is_empty() {
        let title = palette.paint(Tone::BoldGreen, "Outputs:");
        context.streams.print(&format!("\n{title}\n\n{}", output::list(state, context.redaction)));
    }
}

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
