//! `taint` and `untaint`: mark or unmark an object for replacement by the next apply.

use std::sync::Arc;

use groma_address::{Mode, ResourceInstance};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_state::{ObjectRecord, ObjectStatus, State};

use super::backend::{locking, state_location};
use super::configuration::{Purpose, load};
use super::context::Context;
use super::operation::open_state;
use super::outcome::{Outcome, fail};
use crate::arguments::{Flag, Taint};

pub(super) fn taint(context: &mut Context, arguments: &Taint) -> Outcome {
    mark(context, arguments, ObjectStatus::Tainted)
}

pub(super) fn untaint(context: &mut Context, arguments: &Taint) -> Outcome {
    mark(context, arguments, ObjectStatus::Ready)
}

fn mark(context: &mut Context, arguments: &Taint, wanted: ObjectStatus) -> Outcome {
    context.configure_view(&arguments.writing.view);
    context.configure_json(&arguments.json)?;
    let command = if wanted == ObjectStatus::Tainted { "taint" } else { "untaint" };
    let address = address(&arguments.rest, command)?;
    if wanted == ObjectStatus::Tainted && address.resource.mode != Mode::Managed {
        // Terraform prints this error without the frame of a diagnostic.
        context.streams.print_error(&format!("Resource instance {address} cannot be tainted\n"));
        return Ok(1);
    }
    // Terraform's `untaint` has no variable flags, and so does not check values of variables.
    let purpose = match wanted {
        ObjectStatus::Tainted => Purpose::ChangeState,
        ObjectStatus::Ready => Purpose::ReadState,
    };
    let (configuration, _) = load(context, purpose)?;
    let location = state_location(context, &configuration.root, (&arguments.writing.files).into())?;
    let (mut store, mut state) = open_state(context, location, &locking(&arguments.writing.locking, command))?;
    // Only the current object can be tainted: deposed ones are destroyed anyway.
    let Some(record) = state.object(&address, None).cloned() else {
        return missing(context, arguments, &state, &address);
    };
    // Terraform reports this as an error, while `taint` of a tainted object succeeds.
    if wanted == ObjectStatus::Ready && record.status == ObjectStatus::Ready {
        return Err(fail(
            "Resource instance is not tainted",
            format!("Resource instance {address} is not currently tainted, so it cannot be untainted."),
        ));
    }
    if let Some(provider) = state.provider(&address, None).cloned() {
        // The record is shared with the state, so it is copied to change the status.
        let marked = ObjectRecord { status: wanted, ..(*record).clone() };
        state.insert(&address, None, &provider, Arc::new(marked));
    }
    store.save(&mut state).map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
    let text = match wanted {
        ObjectStatus::Tainted => format!("Resource instance {address} has been marked as tainted.\n"),
        ObjectStatus::Ready => format!("Resource instance {address} has been successfully untainted.\n"),
    };
    context.report(&text);
    Ok(0)
}

fn address(rest: &[String], command: &str) -> Result<ResourceInstance, Diagnostics> {
    let [text] = rest else {
        let summary = if rest.is_empty() { "Required argument missing" } else { "Too many command line arguments" };
        let detail = format!("The {command} command takes one argument: the address of the resource instance.");
        return Err(fail(summary, detail));
    };
    text.parse().map_err(|problem: groma_address::ParseError| {
        Diagnostics::from(Diagnostic::error(
            "Invalid address",
            format!("{text:?} is not a valid resource address: {problem}"),
        ))
    })
}

fn missing(context: &Context, arguments: &Taint, state: &State, address: &ResourceInstance) -> Outcome {
    // A more precise message: the address is right, but its object is gone.
    if state.get(address).is_some_and(|record| !record.deposed.is_empty()) {
        let detail = format!(
            "Resource instance {address} has only a deposed object, because its replacement was not completed. Run apply first to complete \
             it."
        );
        return Err(fail("No such resource instance", detail));
    }
    if arguments.allow_missing.is_some_and(Flag::is_on) {
        // Scripts match "was not found".
        let detail =
            format!("Resource instance {address} was not found. Because of -allow-missing, this is only a warning.");
        context.show(&Diagnostic::warning("No such resource instance", detail).into());
        return Ok(0);
    }
    // The usual mistake is a wrong directory or workspace.
    let detail = if state.is_empty() {
        "The state contains no resource instances: the configuration was never applied, or everything was destroyed."
            .to_owned()
    } else {
        format!(
            "The state contains no resource instance with the address {address}. If it was recently added to the configuration, run apply \
             first. Run \"state list\" to see all addresses."
        )
    };
    Err(fail("No such resource instance", detail))
}
