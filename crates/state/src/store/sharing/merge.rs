//! Merging the records of one run into a state that other runs have written since.

use std::collections::BTreeSet;
use std::sync::Arc;

use groma_address::{Mode as ResourceMode, Name, ResourceInstance};

use super::record::{RecordName, is_same_instance};
use crate::model::{CheckResult, InstanceRecord, State};

/// The run that may change a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claimant {
    /// The run that merges.
    Own,
    /// Another run.
    Other,
    Nobody,
}

/// The result of merging.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MergedRecords {
    /// The records of the stored state that were changed.
    pub changed: BTreeSet<RecordName>,
    /// The claimed records that somebody has changed in spite of the claim, and that stay as they are: a program that does not
    /// know the claims, after the lock was released by force.
    pub conflicts: BTreeSet<RecordName>,
}

/// Merges the difference between `base` and `ours` into `theirs`.
///
/// Claimed records replace those of `theirs`. A record without a claim was only refreshed: it is taken over if nobody has changed
/// it since `base`, and nobody is about to.
pub(super) fn merge(
    base: &State,
    ours: &State,
    theirs: &mut State,
    claimant: impl Fn(&RecordName) -> Claimant,
) -> MergedRecords {
    let mut merged = MergedRecords::default();
    for address in addresses(base, ours) {
        let (before, after) = (base.get(&address), ours.get(&address));
        if is_same_instance(before, after) && has_same_provider(base, ours, &address) {
            continue;
        }
        let name = RecordName::instance(&address);
        let found = theirs.get(&address);
        let claimant = claimant(&name);
        let is_unchanged = is_same_instance(before, found);
        let is_taken = match claimant {
            // A run without the claim may have been writing what it had refreshed while this one claimed the record. Its values are
            // older than the result of this run.
            Claimant::Own => is_unchanged || has_same_objects(before, found),
            Claimant::Nobody => is_unchanged,
            Claimant::Other => false,
        };
        if is_taken {
            if replace_instance(ours, theirs, &address) {
                merged.changed.insert(name);
            }
        } else if claimant == Claimant::Own && !is_same_instance(after, found) {
            merged.conflicts.insert(name);
        }
    }
    merge_outputs(base, ours, theirs, &claimant, &mut merged.changed);
    theirs.check_results = merged_checks(base, ours, theirs);
    merged
}

/// Makes `base` have the records that were merged from `ours`, so that the next merge finds them unchanged.
pub(super) fn adopt(base: &mut State, ours: &State, changed: &BTreeSet<RecordName>) {
    for address in addresses(base, ours).iter().filter(|address| changed.contains(&RecordName::instance(address))) {
        replace_instance(ours, base, address);
    }
    let names: BTreeSet<_> = base.outputs.keys().chain(ours.outputs.keys()).cloned().collect();
    for name in names.iter().filter(|name| changed.contains(&RecordName::output(name))) {
        replace_output(ours, base, name);
    }
}

/// Returns the addresses of the instances in two states.
pub(super) fn addresses(one: &State, other: &State) -> BTreeSet<ResourceInstance> {
    one.iter().chain(other.iter()).map(|view| view.address()).collect()
}

/// Gives `to` the output that `from` has.
pub(super) fn replace_output(from: &State, to: &mut State, name: &Name) {
    match from.outputs.get(name).cloned() {
        Some(output) => drop(to.outputs.insert(name.clone(), output)),
        None => drop(to.outputs.remove(name)),
    }
}

pub(super) fn has_same_provider(one: &State, other: &State, address: &ResourceInstance) -> bool {
    one.provider(address, None) == other.provider(address, None)
}

/// Whether two records of an instance mean the same objects, whatever their attributes are.
fn has_same_objects(one: Option<&InstanceRecord>, other: Option<&InstanceRecord>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return false };
    let is_same_current = match (&one.current, &other.current) {
        (Some(one), Some(other)) => one.is_same_object(other),
        _ => false,
    };
    is_same_current && one.deposed.keys().eq(other.deposed.keys())
}

/// Gives `theirs` the instance that `ours` has. Returns whether it was another one.
pub(super) fn replace_instance(ours: &State, theirs: &mut State, address: &ResourceInstance) -> bool {
    let is_same = is_same_instance(ours.get(address), theirs.get(address)) && has_same_provider(ours, theirs, address);
    if is_same {
        return false;
    }
    theirs.remove_instance(address);
    let Some(record) = ours.get(address) else { return true };
    let current = record.current.iter().map(|object| (None, object));
    for (key, object) in current.chain(record.deposed.iter().map(|(key, object)| (Some(key), object))) {
        if let Some(provider) = ours.provider(address, key) {
            theirs.insert(address, key, provider, Arc::clone(object));
        }
    }
    true
}

fn merge_outputs(
    base: &State,
    ours: &State,
    theirs: &mut State,
    claimant: &impl Fn(&RecordName) -> Claimant,
    changed: &mut BTreeSet<RecordName>,
) {
    let names: BTreeSet<_> = base.outputs.keys().chain(ours.outputs.keys()).collect();
    for name in names {
        let (before, after) = (base.outputs.get(name), ours.outputs.get(name));
        if before == after {
            continue;
        }
        let record = RecordName::output(name);
        let found = theirs.outputs.get(name);
        let is_taken = match claimant(&record) {
            Claimant::Own => true,
            Claimant::Other => false,
            Claimant::Nobody => found == before,
        };
        if !is_taken || found == after {
            continue;
        }
        replace_output(ours, theirs, name);
        changed.insert(record);
    }
}

/// Returns the results of conditions: those that this run has changed, and all others as they are stored.
fn merged_checks(base: &State, ours: &State, theirs: &State) -> Option<Vec<CheckResult>> {
    if base.check_results == ours.check_results || theirs.check_results == ours.check_results {
        return theirs.check_results.clone();
    }
    if theirs.check_results == base.check_results {
        return ours.check_results.clone();
    }
    let of = |state: &State, key: &CheckResult| -> Option<CheckResult> {
        let mut results = state.check_results.iter().flatten();
        results.find(|other| is_about_same(other, key)).cloned()
    };
    let mut merged = theirs.check_results.clone().unwrap_or_default();
    for result in ours.check_results.iter().flatten() {
        if of(base, result).as_ref() == Some(result) {
            continue;
        }
        match merged.iter_mut().find(|other| is_about_same(other, result)) {
            Some(other) => *other = result.clone(),
            None => merged.push(result.clone()),
        }
    }
    // A result that this run has dropped belongs to a block that its configuration no longer has.
    merged.retain(|result| of(ours, result).is_some() || of(base, result).is_none());
    Some(merged)
}

fn is_about_same(one: &CheckResult, other: &CheckResult) -> bool {
    (&one.object_kind, &one.config_addr) == (&other.object_kind, &other.config_addr)
}

/// Brings a planned state up to the stored one: records that the plan has not used are as they are stored now, and all others as
/// planning left them.
pub(super) fn rebase(planned: &mut State, current: &State, is_used: impl Fn(&RecordName) -> bool) {
    let addresses: BTreeSet<ResourceInstance> =
        planned.iter().chain(current.iter()).map(|view| view.address()).collect();
    for address in addresses {
        // Data was read for this plan, and changes evaluate with it.
        let is_data = address.resource.mode == ResourceMode::Data;
        if !is_data && !is_used(&RecordName::instance(&address)) {
            replace_instance(current, planned, &address);
        }
    }
    let names: BTreeSet<_> = planned.outputs.keys().chain(current.outputs.keys()).cloned().collect();
    for name in names.into_iter().filter(|name| !is_used(&RecordName::output(name))) {
        replace_output(current, planned, &name);
    }
    planned.check_results.clone_from(&current.check_results);
    planned.lineage.clone_from(&current.lineage);
    planned.serial = current.serial;
}

#[cfg(test)]
mod tests {
    use groma_address::{ProviderAddress, ProviderConfig};
    use groma_value::{Type, Value};

    use super::super::unanswered::UnansweredRecords;
    use super::*;
    use crate::model::{CheckStatus, OutputValue};
    use crate::object::{AttributesJson, DeposedKey, ObjectRecord};

    fn state(objects: &[(&str, &str)], outputs: &[(&str, &str)]) -> State {
        let mut state = State::default();
        let provider = ProviderConfig::default_in_root(ProviderAddress::default_for("cloud"));
        for (address, id) in objects {
            let object = ObjectRecord::new(0, AttributesJson::new(format!("{{\"id\":\"{id}\"}}")));
            state.insert(&address.parse().unwrap(), None, &provider, Arc::new(object));
        }
        for (name, text) in outputs {
            let output =
                OutputValue { value: Value::string(*text), ty: Type::String, sensitive: false, deprecated: None };
            state.outputs.insert((*name).into(), output);
        }
        state
    }

    fn objects(state: &State) -> Vec<(String, String)> {
        let record = |view: crate::model::InstanceView<'_>| {
            (view.address().to_string(), view.record.current.as_ref().unwrap().id_json().unwrap().replace('"', ""))
        };
        state.iter().map(record).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(one, other)| ((*one).to_owned(), (*other).to_owned())).collect()
    }

    fn owning<'a>(own: &'a [&'a str], other: &'a [&'a str]) -> impl Fn(&RecordName) -> Claimant + 'a {
        move |name| match name.to_string() {
            name if own.contains(&&*name) => Claimant::Own,
            name if other.contains(&&*name) => Claimant::Other,
            _ => Claimant::Nobody,
        }
    }

    #[test]
    fn changes_of_two_runs_are_both_kept() {
        let base = state(&[("cloud_it.a", "1"), ("cloud_it.b", "1"), ("cloud_it.c", "1")], &[("x", "1"), ("y", "1")]);
        let ours = state(&[("cloud_it.a", "2"), ("cloud_it.b", "1"), ("cloud_it.new", "2")], &[("x", "2"), ("y", "1")]);
        let mut theirs =
            state(&[("cloud_it.a", "1"), ("cloud_it.b", "3"), ("cloud_it.c", "1")], &[("x", "1"), ("z", "3")]);
        let own = ["cloud_it.a", "cloud_it.c", "cloud_it.new", "output x"];
        let merged = merge(&base, &ours, &mut theirs, owning(&own, &["cloud_it.b"]));
        assert_eq!(merged.changed.iter().map(ToString::to_string).collect::<Vec<_>>(), own);
        assert_eq!(objects(&theirs), pairs(&[("cloud_it.a", "2"), ("cloud_it.b", "3"), ("cloud_it.new", "2")]));
        let outputs: Vec<_> = theirs.outputs.iter().map(|(name, output)| (&**name, output.value.as_str())).collect();
        assert_eq!(outputs, [("x", Some("2")), ("z", Some("3"))]);
        let again = merge(&base, &ours, &mut theirs, owning(&own, &[]));
        assert_eq!(again, MergedRecords::default(), "merging again changes nothing");
    }

    #[test]
    fn refreshed_records_yield_to_those_who_change_them() {
        let base = state(&[("cloud_it.a", "1"), ("cloud_it.b", "1"), ("cloud_it.c", "1")], &[]);
        let refreshed = state(&[("cloud_it.a", "2"), ("cloud_it.b", "2"), ("cloud_it.c", "2")], &[]);
        let mut theirs = state(&[("cloud_it.a", "1"), ("cloud_it.b", "3"), ("cloud_it.c", "1")], &[]);
        merge(&base, &refreshed, &mut theirs, owning(&[], &["cloud_it.c"]));
        assert_eq!(objects(&theirs), pairs(&[("cloud_it.a", "2"), ("cloud_it.b", "3"), ("cloud_it.c", "1")]));
    }

    #[test]
    fn a_claimed_record_that_somebody_else_has_changed_is_a_conflict() {
        let base = state(&[("cloud_it.a", "1"), ("cloud_it.b", "1")], &[]);
        let ours = state(&[("cloud_it.a", "2"), ("cloud_it.b", "2")], &[]);
        let mut theirs = state(&[("cloud_it.a", "3"), ("cloud_it.b", "1")], &[]);
        let merged = merge(&base, &ours, &mut theirs, owning(&["cloud_it.a", "cloud_it.b"], &[]));
        assert_eq!(merged.conflicts.iter().map(ToString::to_string).collect::<Vec<_>>(), ["cloud_it.a"]);
        assert_eq!(objects(&theirs), pairs(&[("cloud_it.a", "3"), ("cloud_it.b", "2")]));
    }

    #[test]
    fn a_refresh_that_another_run_was_writing_yields_to_the_claim() {
        let object = |state: &mut State, name: &str, attributes: &str| {
            let provider = ProviderConfig::default_in_root(ProviderAddress::default_for("cloud"));
            let object = ObjectRecord::new(0, AttributesJson::new(attributes.to_owned()));
            state.insert(&name.parse().unwrap(), None, &provider, Arc::new(object));
        };
        let with = |changed: &str, gone: Option<&str>| {
            let mut state = State::default();
            object(&mut state, "cloud_it.changed", changed);
            gone.iter().for_each(|gone| object(&mut state, "cloud_it.gone", gone));
            state
        };
        let base = with(r#"{"id":"1","size":1}"#, Some(r#"{"id":"2","size":1}"#));
        let ours = with(r#"{"id":"1","size":9}"#, None);
        let mut theirs = with(r#"{"id":"1","size":2}"#, Some(r#"{"id":"2","size":2}"#));
        let merged = merge(&base, &ours, &mut theirs, owning(&["cloud_it.changed", "cloud_it.gone"], &[]));
        assert_eq!((merged.changed.len(), merged.conflicts.len()), (2, 0));
        assert!(is_same_instance(
            theirs.get(&"cloud_it.changed".parse().unwrap()),
            ours.get(&"cloud_it.changed".parse().unwrap())
        ));
        assert_eq!(theirs.len(), 1);
    }

    #[test]
    fn a_run_may_merge_a_record_again_and_again() {
        let mut base = state(&[("cloud_it.a", "1")], &[]);
        let mut theirs = state(&[("cloud_it.a", "1"), ("cloud_it.b", "1")], &[]);
        for id in ["2", "3", "4"] {
            let ours = state(&[("cloud_it.a", id)], &[]);
            let merged = merge(&base, &ours, &mut theirs, owning(&["cloud_it.a"], &[]));
            assert!(merged.conflicts.is_empty() && merged.changed.len() == 1);
            adopt(&mut base, &ours, &merged.changed);
        }
        assert_eq!(objects(&theirs), pairs(&[("cloud_it.a", "4"), ("cloud_it.b", "1")]));
    }

    #[test]
    fn a_record_that_a_run_has_written_without_an_answer_is_no_conflict() {
        let start = state(&[("cloud_it.a", "1"), ("cloud_it.b", "1"), ("cloud_it.c", "1")], &[("x", "1")]);
        let own = ["cloud_it.a", "cloud_it.b", "cloud_it.c", "output x"];
        let first = state(&[("cloud_it.a", "2"), ("cloud_it.b", "2")], &[("x", "2")]);
        let mut base = state(&[("cloud_it.a", "1"), ("cloud_it.b", "1"), ("cloud_it.c", "1")], &[("x", "1")]);
        let mut theirs = start;
        let merged = merge(&base, &first, &mut theirs, owning(&own, &[]));
        let unanswered = UnansweredRecords::of(&base, &first, &merged.changed);
        // A program that does not know the claims.
        theirs.remove_instance(&"cloud_it.b".parse().unwrap());
        let landed = unanswered.settle(&mut base, &theirs);
        let names: Vec<_> = landed.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["cloud_it.a", "cloud_it.c", "output x"], "c was destroyed");
        let second = state(&[("cloud_it.a", "3"), ("cloud_it.b", "3"), ("cloud_it.c", "3")], &[("x", "3")]);
        let merged = merge(&base, &second, &mut theirs, owning(&own, &[]));
        assert_eq!(merged.conflicts.iter().map(ToString::to_string).collect::<Vec<_>>(), ["cloud_it.b"]);
        assert_eq!(objects(&theirs), pairs(&[("cloud_it.a", "3"), ("cloud_it.c", "3")]));
    }

    #[test]
    fn a_run_may_merge_an_output_without_a_claim_again_and_again() {
        let mut base = state(&[], &[("x", "1")]);
        let mut theirs = state(&[], &[("x", "1")]);
        for text in ["2", "3", "4"] {
            let ours = state(&[], &[("x", text)]);
            let merged = merge(&base, &ours, &mut theirs, owning(&[], &[]));
            adopt(&mut base, &ours, &merged.changed);
            assert_eq!(theirs.outputs["x"].value.as_str(), Some(text));
        }
        assert_eq!(base.outputs["x"], theirs.outputs["x"]);
    }

    #[test]
    fn deposed_objects_belong_to_the_record_of_their_instance() {
        let base = state(&[("cloud_it.a", "1")], &[]);
        let mut ours = state(&[("cloud_it.a", "1")], &[]);
        let address = "cloud_it.a".parse().unwrap();
        let key: DeposedKey = ours.depose(&address).unwrap();
        let mut theirs = state(&[("cloud_it.a", "1"), ("cloud_it.b", "1")], &[]);
        merge(&base, &ours, &mut theirs, owning(&["cloud_it.a"], &[]));
        let record = theirs.get(&address).unwrap();
        assert!(record.current.is_none() && record.deposed.contains_key(&key));
        assert_eq!(theirs.len(), 2);
    }

    #[test]
    fn results_of_conditions_are_merged_by_block() {
        let result = |addr: &str, status| CheckResult {
            object_kind: "resource".to_owned(),
            config_addr: addr.to_owned(),
            status,
            objects: None,
        };
        let with = |results: Vec<CheckResult>| {
            let mut state = State::default();
            state.check_results = Some(results);
            state
        };
        let base =
            with(vec![result("a", CheckStatus::Pass), result("b", CheckStatus::Pass), result("c", CheckStatus::Pass)]);
        let ours = with(vec![result("a", CheckStatus::Fail), result("b", CheckStatus::Pass)]);
        let mut theirs =
            with(vec![result("a", CheckStatus::Pass), result("b", CheckStatus::Fail), result("c", CheckStatus::Pass)]);
        merge(&base, &ours, &mut theirs, |_| Claimant::Nobody);
        let expected = vec![result("a", CheckStatus::Fail), result("b", CheckStatus::Fail)];
        assert_eq!(theirs.check_results, Some(expected));
    }

    #[test]
    fn a_planned_state_follows_the_records_that_it_has_not_used() {
        let mut planned =
            state(&[("cloud_it.a", "refreshed"), ("cloud_it.b", "1"), ("cloud_it.gone", "1")], &[("x", "1")]);
        let mut current = state(&[("cloud_it.a", "1"), ("cloud_it.b", "2"), ("cloud_it.new", "1")], &[("x", "2")]);
        current.serial = 7;
        rebase(&mut planned, &current, |name| name.to_string() == "cloud_it.a");
        let expected = pairs(&[("cloud_it.a", "refreshed"), ("cloud_it.b", "2"), ("cloud_it.new", "1")]);
        assert_eq!(objects(&planned), expected);
        assert_eq!((planned.outputs["x"].value.as_str(), planned.serial), (Some("2"), 7));
    }
}
