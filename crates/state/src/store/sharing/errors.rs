//! Errors of shared states.

use std::collections::{BTreeMap, BTreeSet};

use super::document::ClaimConflict;
use super::record::RecordName;
use crate::error::{StateError, StateErrorKind};

/// The largest number of records that a message names.
const SHOWN: usize = 5;

/// Returns the error about records that other runs change.
pub(super) fn claimed_by_others(conflicts: &[ClaimConflict]) -> StateError {
    let mut runs: BTreeMap<&str, Vec<&ClaimConflict>> = BTreeMap::new();
    for conflict in conflicts {
        runs.entry(&conflict.run).or_default().push(conflict);
    }
    let lines = runs.iter().map(|(run, conflicts)| {
        let entry = &conflicts[0].entry;
        let records = listed(conflicts.iter().map(|conflict| &conflict.record));
        let (verb, who, since) = (if conflicts.len() == 1 { "is" } else { "are" }, &entry.who, &entry.since);
        format!("{records} {verb} being changed by {who} since {since} ({}, run {run}).", entry.operation)
    });
    let lines: Vec<String> = lines.collect();
    StateError::new(
        StateErrorKind::Locked,
        "Objects are being changed by another run",
        format!(
            "{}\n\nNothing was changed. Wait until that run has finished, or let this one wait with -lock-timeout=60s. If that run was \
             killed, its claims expire within two minutes, and the next apply recovers its results.",
            lines.join("\n")
        ),
    )
}

/// Returns the names of records, the first few of many.
fn listed<'a>(records: impl ExactSizeIterator<Item = &'a RecordName>) -> String {
    let count = records.len();
    let names: Vec<String> = records.take(SHOWN).map(ToString::to_string).collect();
    match count.saturating_sub(SHOWN) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// Returns the error about a run that another process has taken over.
pub(super) fn taken_over(location: &str, holder: Option<&str>) -> StateError {
    let holder = holder.unwrap_or("another process");
    StateError::new(
        StateErrorKind::Changed,
        "The shared run was lost",
        format!(
            "The run of this process in the shared state {location} was not renewed in time, so {holder} has taken it over, with all \
             results in its journal. This process writes nothing more. Run the command again to plan the remaining changes."
        ),
    )
}

/// Returns the error about a run that was not renewed until its deadline.
pub(super) fn expired(location: &str) -> StateError {
    StateError::new(
        StateErrorKind::Changed,
        "The shared run was lost",
        format!(
            "The run of this process in the shared state {location} was not renewed for more than a minute: the process was paused, or \
             the store did not answer. Other programs may have changed the state since, so this process writes nothing more. The journal \
             has all results, and the next apply recovers them."
        ),
    )
}

/// Returns the error about the ordinary lock that another program has taken; `problem` names it.
pub(super) fn lock_lost(location: &str, problem: &StateError) -> StateError {
    StateError::new(
        StateErrorKind::Changed,
        "The state lock was lost",
        format!(
            "Another program has taken the lock of {location}, which shared runs hold together. It does not know their claims, so \
             nothing more is written. The journal has all results, and the next apply recovers them.\n\n{}",
            problem.detail
        ),
    )
}

/// Returns the error about claimed records that another program has changed.
pub(super) fn overwritten(location: &str, records: &BTreeSet<RecordName>) -> StateError {
    StateError::new(
        StateErrorKind::Changed,
        "The state was changed by another run",
        format!(
            "A program that does not know the claims of shared runs has changed {} in {location} while this run changed them. Nothing was \
             overwritten. The journal has all results, and the next apply recovers them.",
            listed(records.iter())
        ),
    )
}

pub(super) fn no_longer_shared(location: &str) -> StateError {
    StateError::new(
        StateErrorKind::Changed,
        "The state is no longer shared",
        format!(
            "The sharing of {location} was disabled after this run had read the state. Nothing was changed. Run the command again."
        ),
    )
}

pub(super) fn unreadable_document(location: &str) -> StateError {
    StateError::new(
        StateErrorKind::Unsupported,
        "Unreadable sharing document",
        format!(
            "The document next to {location} that lists the runs of the shared state is damaged, or was written by a newer version. \
             Nothing was changed. If a newer version has written it, use that version. Otherwise replace the document with \"state \
             sharing enable\", which waits until no run is at work."
        ),
    )
}

/// Returns the error about something that other runs have replaced at each attempt: `target` names it, `the state` for example.
pub(super) fn contended(location: &str, target: &str, attempts: u32) -> StateError {
    StateError::new(
        StateErrorKind::Io,
        "Too many concurrent writes",
        format!(
            "Failed to write {target} of {location}: other runs wrote it first in each of {attempts} attempts. Run the command again when \
             fewer runs are at work. Results of this run, if there are any, are in its journal, and the next apply recovers them."
        ),
    )
}

/// Returns the error about the journal of a killed run that held the ordinary lock alone.
pub(super) fn exclusive_journal(location: &str) -> StateError {
    StateError::new(
        StateErrorKind::Locked,
        "Results of a killed run are not recovered",
        format!(
            "A run that held the lock of {location} alone was killed, and its journal has results that the state lacks. Nothing was \
             changed. Run the command again: it recovers them first."
        ),
    )
}

pub(super) fn missing_state(location: &str) -> StateError {
    StateError::new(
        StateErrorKind::Malformed,
        "Shared state not found",
        format!("{location} is shared, but no longer has a state. Restore it from a backup with \"state push\"."),
    )
}
