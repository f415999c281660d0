//! The document of a shared state: who changes which records of it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::record::RecordName;
use crate::store::lease::Deadline;
use crate::store::lock::rfc3339;

/// The version of the document that this program reads and writes.
const FORMAT: u32 = 1;

/// The largest number of records in the log; the oldest changes are forgotten first.
const LOGGED_RECORDS: usize = 2000;

/// The document next to a shared state. It is read with its version and replaced under that condition, so that every change
/// of it is one step.
///
/// Laws: a record is claimed by one run at most; a run has its claims until it leaves or until another process takes it over after
/// its deadline; only the process that entered a run last may renew it or leave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharingDocument {
    pub(super) format: u32,
    /// Whether runs share the state.
    pub enabled: bool,
    /// The runs that change records, by identifier.
    #[serde(default)]
    pub runs: BTreeMap<String, SharedRunEntry>,
    /// The latest changes, the oldest first.
    #[serde(default)]
    pub log: Vec<LoggedChange>,
}

/// A run in the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedRunEntry {
    /// The process that carries the run on: another one after a takeover.
    pub process: String,
    /// `user@host`.
    pub who: String,
    /// The operation, in the words of lock infos.
    pub operation: String,
    /// The time at which the process entered the run.
    pub since: String,
    /// The time at which the run ends unless it is renewed.
    pub deadline: Deadline,
    /// The records that only this run may change.
    #[serde(default)]
    pub claims: BTreeSet<RecordName>,
}

/// The records that a run has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedChange {
    /// The run.
    pub run: String,
    /// `user@host`.
    pub who: String,
    /// The time of the change.
    pub time: String,
    /// The serial of the first state with all of them.
    pub serial: u64,
    /// The records.
    pub records: BTreeSet<RecordName>,
}

/// The process that enters a run.
#[derive(Clone, Debug)]
pub(super) struct Entering<'a> {
    pub run: &'a str,
    pub process: &'a str,
    pub who: &'a str,
    pub operation: &'a str,
    pub now: SystemTime,
}

impl Entering<'_> {
    fn entry(&self, claims: BTreeSet<RecordName>) -> SharedRunEntry {
        SharedRunEntry {
            process: self.process.to_owned(),
            who: self.who.to_owned(),
            operation: self.operation.to_owned(),
            since: rfc3339(self.now),
            deadline: Deadline::of_renewal(self.now),
            claims,
        }
    }
}

/// A record that another run claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClaimConflict {
    pub record: RecordName,
    pub run: String,
    pub entry: SharedRunEntry,
}

impl SharedRunEntry {
    /// Whether the deadline has passed for certain, so that another process may take the run over.
    pub fn is_over(&self, now: SystemTime) -> bool {
        self.deadline.is_over(now)
    }
}

/// The document of a state that runs do not share.
impl Default for SharingDocument {
    fn default() -> Self {
        Self { format: FORMAT, enabled: false, runs: BTreeMap::new(), log: Vec::new() }
    }
}

impl SharingDocument {
    /// Parses a stored document; `None` if it is not one of this version.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok().filter(|document: &Self| document.format == FORMAT)
    }

    /// Returns the bytes to store.
    pub(super) fn bytes(&self) -> Vec<u8> {
        // A struct of strings and numbers always has a JSON form.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Adds a run with its claims, or adds claims to the run of this process.
    ///
    /// # Errors
    /// Other runs claim some of the records; then nothing is changed.
    pub(super) fn claim(
        &mut self,
        entering: &Entering<'_>,
        records: &BTreeSet<RecordName>,
    ) -> Result<(), Vec<ClaimConflict>> {
        let others = self.runs.iter().filter(|(run, _)| *run != entering.run);
        let conflicts: Vec<ClaimConflict> = others
            .flat_map(|(run, entry)| {
                let both = entry.claims.intersection(records).cloned();
                both.map(|record| ClaimConflict { record, run: run.clone(), entry: entry.clone() })
            })
            .collect();
        if !conflicts.is_empty() {
            return Err(conflicts);
        }
        let known = self.runs.get(entering.run).filter(|entry| entry.process == entering.process);
        let claims = known.map_or_else(BTreeSet::new, |entry| entry.claims.clone());
        self.runs.insert(entering.run.to_owned(), entering.entry(claims.union(records).cloned().collect()));
        Ok(())
    }

    /// Enters a run whose process has ended, and keeps its claims. Returns whether there is such a run.
    pub(super) fn take_over(&mut self, entering: &Entering<'_>) -> bool {
        let Some(entry) = self.runs.get_mut(entering.run) else { return false };
        *entry = entering.entry(std::mem::take(&mut entry.claims));
        true
    }

    /// Returns the run, if this process still carries it on.
    pub(super) fn own(&self, run: &str, process: &str) -> Option<&SharedRunEntry> {
        self.runs.get(run).filter(|entry| entry.process == process)
    }

    /// Moves the deadline of a run. Returns whether the process still carries it on.
    pub(super) fn renew(&mut self, run: &str, process: &str, now: SystemTime) -> bool {
        let Some(entry) = self.runs.get_mut(run).filter(|entry| entry.process == process) else { return false };
        entry.deadline = Deadline::of_renewal(now);
        true
    }

    /// Ends a run but keeps its claims, because its journal has results that the state does not have: the next run takes it over at
    /// once. Returns whether the process still carries the run on.
    pub(super) fn abandon(&mut self, run: &str, process: &str) -> bool {
        let Some(entry) = self.runs.get_mut(run).filter(|entry| entry.process == process) else { return false };
        entry.deadline = Deadline::PASSED;
        true
    }

    /// Removes a run with its claims. Returns whether the process still carried it on.
    pub(super) fn leave(&mut self, run: &str, process: &str, change: Option<LoggedChange>) -> bool {
        if self.own(run, process).is_none() {
            return false;
        }
        self.runs.remove(run);
        self.log.extend(change.filter(|change| !change.records.is_empty()));
        self.shorten_log();
        true
    }

    fn shorten_log(&mut self) {
        // An older change of the same record says nothing any more.
        let mut newer: BTreeSet<RecordName> = BTreeSet::new();
        for change in self.log.iter_mut().rev() {
            change.records.retain(|record| !newer.contains(record));
            let room = LOGGED_RECORDS.saturating_sub(newer.len());
            while change.records.len() > room {
                change.records.pop_last();
            }
            newer.extend(change.records.iter().cloned());
        }
        self.log.retain(|change| !change.records.is_empty());
    }

    /// Returns the last logged change of a record in a state after `serial`.
    pub(super) fn last_change(&self, record: &RecordName, serial: u64) -> Option<&LoggedChange> {
        self.log.iter().rev().find(|change| change.serial > serial && change.records.contains(record))
    }

    /// Returns the run that claims a record.
    pub(super) fn claimant(&self, record: &RecordName) -> Option<&str> {
        self.runs.iter().find(|(_, entry)| entry.claims.contains(record)).map(|(run, _)| &**run)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn record(number: u8) -> RecordName {
        RecordName::output(&format!("r{number}").into())
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_257_000 + seconds)
    }

    fn entering<'a>(run: &'a str, process: &'a str, now: SystemTime) -> Entering<'a> {
        Entering { run, process, who: "me@here", operation: "OperationTypeApply", now }
    }

    fn claim(document: &mut SharingDocument, run: &str, records: &[u8], now: u64) -> Result<(), Vec<ClaimConflict>> {
        let records = records.iter().map(|number| record(*number)).collect();
        document.claim(&entering(run, run, at(now)), &records)
    }

    #[test]
    fn a_claimed_record_is_refused_to_others_with_its_claimant() {
        let mut document = SharingDocument::default();
        claim(&mut document, "a", &[1, 2], 0).unwrap();
        claim(&mut document, "b", &[3], 0).unwrap();
        let conflicts = claim(&mut document, "c", &[2, 4], 0).unwrap_err();
        assert_eq!(conflicts.len(), 1);
        assert_eq!((&*conflicts[0].run, &conflicts[0].record), ("a", &record(2)));
        assert!(!document.runs.contains_key("c"), "all or nothing");
        assert!(document.leave("a", "a", None));
        claim(&mut document, "c", &[2, 4], 0).unwrap();
    }

    #[test]
    fn a_run_that_is_over_keeps_its_claims_until_it_is_taken_over() {
        let mut document = SharingDocument::default();
        claim(&mut document, "a", &[1], 0).unwrap();
        assert!(!document.runs["a"].is_over(at(120)));
        assert!(document.runs["a"].is_over(at(121)));
        assert!(claim(&mut document, "b", &[1], 1000).is_err());
        assert!(document.take_over(&entering("a", "other", at(1000))));
        assert!(!document.renew("a", "a", at(1001)), "the former process has lost the run");
        assert!(!document.leave("a", "a", None));
        assert_eq!(document.claimant(&record(1)), Some("a"));
        assert!(document.renew("a", "other", at(1001)) && document.leave("a", "other", None));
        assert_eq!(document.claimant(&record(1)), None);
    }

    #[test]
    fn an_abandoned_run_can_be_taken_over_at_once() {
        let mut document = SharingDocument::default();
        claim(&mut document, "a", &[1], 0).unwrap();
        assert!(document.abandon("a", "a"));
        assert!(document.runs["a"].is_over(at(0)));
    }

    #[test]
    fn the_log_has_the_last_change_of_each_record_and_stays_short() {
        let mut document = SharingDocument::default();
        let change = |run: &str, serial, records: BTreeSet<RecordName>| LoggedChange {
            run: run.to_owned(),
            who: format!("{run}@here"),
            time: String::new(),
            serial,
            records,
        };
        for (run, serial) in [("a", 2), ("b", 3)] {
            claim(&mut document, run, &[1], 0).unwrap();
            document.leave(run, run, Some(change(run, serial, [record(1)].into())));
        }
        assert_eq!(document.log.len(), 1);
        assert_eq!(document.last_change(&record(1), 2).map(|change| &*change.who), Some("b@here"));
        assert_eq!(document.last_change(&record(1), 3), None);
        claim(&mut document, "c", &[2], 0).unwrap();
        let many: BTreeSet<RecordName> = (0..3000).map(|n| RecordName::output(&format!("n{n}").into())).collect();
        document.leave("c", "c", Some(change("c", 4, many)));
        assert_eq!(document.log.iter().map(|change| change.records.len()).sum::<usize>(), LOGGED_RECORDS);
        assert_eq!(document.last_change(&record(1), 0), None, "the oldest change is forgotten");
    }

    #[test]
    fn documents_of_other_versions_are_not_read() {
        let document = SharingDocument::default();
        assert_eq!(SharingDocument::parse(&document.bytes()), Some(document.clone()));
        let newer = SharingDocument { format: FORMAT + 1, ..document };
        assert_eq!(SharingDocument::parse(&newer.bytes()), None);
        assert_eq!(SharingDocument::parse(b"#"), None);
    }

    #[test]
    fn document_with_an_unreadable_deadline_is_not_read() {
        let mut document = SharingDocument::default();
        claim(&mut document, "a", &[1], 0).unwrap();
        let mut json: serde_json::Value = serde_json::from_slice(&document.bytes()).unwrap();
        assert_eq!(SharingDocument::parse(json.to_string().as_bytes()), Some(document));
        json["runs"]["a"]["deadline"] = "soon".into();
        assert_eq!(SharingDocument::parse(json.to_string().as_bytes()), None);
    }

    proptest! {
        #[test]
        fn no_record_has_two_claimants(steps in prop::collection::vec((0..4_u8, 0..4_u8, prop::collection::vec(0..6_u8, 0..4)), 0..40)) {
            let mut document = SharingDocument::default();
            for (time, (action, run, records)) in steps.into_iter().enumerate() {
                let run = run.to_string();
                let now = time as u64 * 50;
                match action {
                    0 | 1 => { let _ = claim(&mut document, &run, &records, now); }
                    2 => { document.leave(&run, &run, None); }
                    _ => {
                        if document.runs.get(&run).is_some_and(|entry| entry.is_over(at(now))) {
                            document.take_over(&entering(&run, &run, at(now)));
                        }
                    }
                }
                let mut all: Vec<&RecordName> = document.runs.values().flat_map(|entry| &entry.claims).collect();
                let count = all.len();
                all.sort();
                all.dedup();
                prop_assert_eq!(all.len(), count);
            }
        }
    }
}
