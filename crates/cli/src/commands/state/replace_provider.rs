//! `state replace-provider`: changes the provider of resources in the state.

use groma_address::{AbsResource, DEFAULT_PROVIDER_HOST, ProviderAddress};
use groma_diagnostics::Diagnostics;

use super::super::context::Context;
use super::super::outcome::{Outcome, fail};
use super::changing::Changing;
use crate::arguments::{Flag, StateReplaceProvider};
use crate::terminal::Answer;
use crate::views::wording::Wording;

pub(super) fn run(context: &mut Context, arguments: &StateReplaceProvider) -> Outcome {
    Changing::configure(context, &arguments.change)?;
    let [from, to] = &*arguments.rest else {
        return Err(fail(
            "Required argument missing",
            "Expected two arguments: the provider address in the state, and the new one.",
        ));
    };
    let from = address(context, "from", from)?;
    let to = address(context, "to", to)?;
    // Checked before the state is locked.
    if arguments.change.json.json.is_some_and(Flag::is_on) && !arguments.auto_approve.is_some_and(Flag::is_on) {
        let detail = "-json cannot prompt for approval. Add -auto-approve.";
        return Err(fail("Auto-approve required", detail));
    }
    let mut changing = Changing::open(context, &arguments.change, "state-replace-provider")?;
    let resources = changing.state.resources().filter(|(_, entry)| entry.provider.provider == from);
    let found: Vec<AbsResource> = resources.map(|(resource, _)| resource.clone()).collect();
    // Nothing to do is a success, so that scripts can run the command twice.
    if found.is_empty() {
        context.report("No matching resources found.\n");
        return Ok(0);
    }
    let names: String = found.iter().map(|resource| format!("  {resource}\n")).collect();
    context.report_worded(|Wording { product, .. }| {
        format!(
            "{product} will perform the following actions:\n\n  ~ Updating provider:\n    - {from}\n    + {to}\n\nChanging {} \
             resources:\n\n{names}",
            found.len()
        )
    });
    if !arguments.auto_approve.is_some_and(Flag::is_on) && !is_approved(context)? {
        context.report("Cancelled replacing providers.\n");
        return Ok(0);
    }
    for resource in &found {
        changing.state.manage_by(resource, &to);
    }
    let undo = changing.save(&context.wording.command)?;
    context.report(&format!("\nSuccessfully replaced provider for {} resources.\n", found.len()));
    context.report_nonempty(&undo);
    Ok(0)
}

fn address(context: &Context, which: &str, text: &str) -> Result<ProviderAddress, Diagnostics> {
    // Names without a host get the host of the configured registry.
    let host = context.settings.registry.as_deref().unwrap_or(DEFAULT_PROVIDER_HOST);
    ProviderAddress::parse(text, host)
        .map_err(|problem| fail(&format!("Invalid {which:?} provider {text:?}"), problem.message))
}

fn is_approved(context: &mut Context) -> Result<bool, Diagnostics> {
    context
        .streams
        .print("\nDo you want to make these changes?\nOnly 'yes' will be accepted to continue.\n\nEnter a value: ");
    match context.prompter()?.line() {
        Answer::Line(line) => Ok(line == "yes"),
        Answer::NotUtf8 => Ok(false),
        Answer::End => Err(fail(
            "Error asking for approval: EOF",
            "Standard input ended before an answer was given. Nothing was changed. Use -auto-approve to continue without a prompt.",
        )),
        Answer::Interrupted => Err(fail("Error asking for approval: interrupted", "Nothing was changed.")),
    }
}
