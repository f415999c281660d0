//! `state sharing`: lets runs that change different objects of one state work at the same time.

use std::time::SystemTime;

use groma_diagnostics::Diagnostics;
use groma_state::{
    Saved, SharedRunEntry, SharingChange, SharingDocument, StateError, disable_sharing, enable_sharing,
    sharing_document,
};

use super::super::backend::{StateLocation, StateOverrides, locking, state_location};
use super::super::configuration::{Purpose, load};
use super::super::context::Context;
use super::super::operation::open_state;
use super::super::outcome::Outcome;
use crate::arguments::{StateSharing, StateSharingChange, StateSharingShow};

/// The largest number of claims and changed records that are shown of a run.
const SHOWN: usize = 10;

pub(super) fn run(context: &mut Context, arguments: &StateSharing) -> Outcome {
    match arguments {
        StateSharing::Enable(arguments) => enable(context, arguments),
        StateSharing::Disable(arguments) => disable(context, arguments),
        StateSharing::Show(arguments) => show(context, arguments),
    }
}

fn failed(problem: StateError) -> Diagnostics {
    problem.diagnostic().into()
}

fn location(context: &mut Context, arguments: &StateSharingChange) -> Result<StateLocation, Diagnostics> {
    context.configure_view(&arguments.access.common.view);
    context.configure_json(&arguments.json)?;
    let (configuration, _) = load(context, Purpose::ChangeState)?;
    state_location(context, &configuration.root, StateOverrides::default())
}

fn enable(context: &mut Context, arguments: &StateSharingChange) -> Outcome {
    let location = location(context, arguments)?;
    let object = location.shared_object()?;
    let shown = location.shown();
    // No run may be at work that does not know of the sharing yet.
    let (mut store, mut state) = open_state(context, location, &locking(&arguments.access.locking, "state-sharing"))?;
    // Shared runs merge into a state, so there must be one.
    let saved = store.prepare_sharing(&mut state).map_err(failed)?;
    let change = enable_sharing(&*object).map_err(failed)?;
    // The lock is released before the message invites other runs.
    drop(store);
    if let Saved::Written(_) = saved {
        context.report(&format!("Wrote the state to {shown}.\n"));
    }
    context.report(&match change {
        SharingChange::Made => format!(
            "{shown} is now shared. Runs that change different objects of it can work at the same time. Terraform and OpenTofu find it \
             locked while any of them is at work.\n"
        ),
        SharingChange::Unneeded => format!("{shown} is already shared.\n"),
    });
    Ok(0)
}

fn disable(context: &mut Context, arguments: &StateSharingChange) -> Outcome {
    let location = location(context, arguments)?;
    let object = location.shared_object()?;
    let shown = location.shown();
    // Shared runs hold this lock together, so it is free only when all of them have ended.
    let (store, _) = open_state(context, location, &locking(&arguments.access.locking, "state-sharing"))?;
    let change = disable_sharing(&*object).map_err(failed)?;
    drop(store);
    context.report(&match change {
        SharingChange::Made => format!("{shown} is no longer shared.\n"),
        SharingChange::Unneeded => format!("{shown} is not shared.\n"),
    });
    Ok(0)
}

fn show(context: &mut Context, arguments: &StateSharingShow) -> Outcome {
    context.configure_view(&arguments.common.view);
    let (configuration, _) = load(context, Purpose::ReadState)?;
    let location = state_location(context, &configuration.root, StateOverrides::default())?;
    let object = location.shared_object()?;
    let document = sharing_document(&*object).map_err(failed)?.unwrap_or_default();
    context.streams.print_document(&description(&location.shown(), &document, SystemTime::now()));
    Ok(0)
}

fn description(location: &str, document: &SharingDocument, now: SystemTime) -> String {
    if !document.enabled {
        return format!("{location} is not shared.\n");
    }
    let mut text = format!("{location} is shared.\n");
    for (run, entry) in &document.runs {
        text.push_str(&format!(
            "\nRun {run} by {} ({}), started at {}, {}:\n",
            entry.who,
            entry.operation,
            entry.since,
            status(entry, now)
        ));
        list(&mut text, entry.claims.iter());
    }
    for change in document.log.iter().rev() {
        text.push_str(&format!("\nChanged by {} at {}, serial {}:\n", change.who, change.time, change.serial));
        list(&mut text, change.records.iter());
    }
    text
}

fn status(entry: &SharedRunEntry, now: SystemTime) -> String {
    match entry.is_over(now) {
        true => "interrupted: the next apply recovers its results".to_owned(),
        false => format!("expires at {} unless it is renewed", entry.deadline),
    }
}

fn list(text: &mut String, records: impl ExactSizeIterator<Item = impl std::fmt::Display>) {
    let more = records.len().saturating_sub(SHOWN);
    records.take(SHOWN).for_each(|record| text.push_str(&format!("  - {record}\n")));
    if more > 0 {
        text.push_str(&format!("  - and {more} more\n"));
    }
}
