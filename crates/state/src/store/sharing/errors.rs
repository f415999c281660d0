//! Errors of shared states.

use std::collections::{BTreeMap, BTreeSet};

use super::document::{ClaimConflict, LoggedChange, SharingDocument};
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
            "{}\n\nNothing was changed. Wait until that run has ended, or let this one wait with -lock-timeout=60s. The claims of a run \
             that was killed end two minutes later, and the next apply takes up its results.",
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
    let holder = holder.map_or_else(
        || "Another process has taken it over and ended it".to_owned(),
        |who| format!("{who} has taken it over"),
    );
    StateError::new(
        StateErrorKind::Changed,
        "The shared run was lost",
        format!(
            "The run of this process in the shared state {location} was not renewed in time. {holder}, with all results in its journal. \
             Nothing more is written. Run the command again to see the remaining changes."
        ),
    )
}

/// Returns the error about the ordinary lock that another program has taken; `problem` names it.
pub(super) fn lock_lost(location: &str, problem: &StateError) -> StateError {
    StateError::new(
        StateErrorKind::Changed,
        "The state lock was lost",
        format!(
            "Another program has taken the lock of {location}, which shared runs hold together. It knows nothing of their claims, so              nothing more is written. The journal has all results, and the next run merges them.\n\n{}",
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
            "A program that does not know the claims of shared runs has changed {} in {location} while this run changed them. Nothing was              overwritten. The journal has all results, and the next run merges them.",
            listed(records.iter())
        ),
    )
}

pub(super) fn no_longer_shared(location: &str) -> StateError {
    StateError::new(
        StateErrorKind::Changed,
        "The state is no longer shared",
        format!(
            "Sharing of {location} was disabled while this run was planning. Nothing was changed. Run the command again."
        ),
    )
}

pub(super) fn unreadable_document(location: &str) -> StateError {
    StateError::new(
        StateErrorKind::Unsupported,
        "Unreadable sharing document",
        format!(
            "The document beside {location} that lists the runs of the shared state is damaged, or was written by a newer version. \
             Nothing was changed. Use the newer version; or, if no run is at work, write the document again with \"state sharing disable\" \
             and \"state sharing enable\"."
        ),
    )
}

/// Returns the error about the journal of a killed run that held the ordinary lock alone.
pub(super) fn exclusive_journal(location: &str) -> StateError {
    StateError::new(
        StateErrorKind::Locked,
        "A killed run has left results",
        format!(
            "A run that held the lock of {location} alone was killed, and its journal has results that the state does not have. Nothing \
             was changed. Run the command again: it takes them in first."
        ),
    )
}

pub(super) fn missing_state(location: &str) -> StateError {
    StateError::new(
        StateErrorKind::Malformed,
        "Shared state not found",
        format!("{location} is shared, but has no state any more. Restore it from a backup with \"state push\"."),
    )
}

/// A record that changed after planning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutdatedRecord {
    /// The record.
    pub name: RecordName,
    /// Its last change by a shared run; none if the log has none since planning.
    pub change: Option<LoggedChange>,
}

impl OutdatedRecord {
    /// Returns records with their last changes since the state with `serial`.
    pub(super) fn found(names: Vec<RecordName>, document: &SharingDocument, serial: u64) -> Vec<Self> {
        let found = |name: RecordName| Self { change: document.last_change(&name, serial).cloned(), name };
        names.into_iter().map(found).collect()
    }

    /// Returns a line for each record, for the first few of many.
    pub fn lines(outdated: &[Self]) -> String {
        let line = |record: &Self| match &record.change {
            Some(change) => format!("  - {} by {} at {} (run {})", record.name, change.who, change.time, change.run),
            None => format!("  - {} by a run that does not share the state", record.name),
        };
        let mut lines: Vec<String> = outdated.iter().take(2 * SHOWN).map(line).collect();
        if let Some(more) = outdated.len().checked_sub(2 * SHOWN).filter(|more| *more > 0) {
            lines.push(format!("  - and {more} more"));
        }
        lines.join("\n")
    }
}
