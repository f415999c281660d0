//! The records of a state, which shared runs claim and compare one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use groma_address::{ConfigResource, Name, ResourceInstance};
use groma_value::json;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::document::{LoggedChange, SharingDocument};
use crate::model::{InstanceRecord, InstanceView, OutputValue, State};

/// The name of a record: an instance with all its objects, or an output of the root module.
///
/// Its text is the address of the instance, or `output NAME`, which no address looks like.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordName(Box<str>);

impl RecordName {
    /// Returns the name of an instance's record.
    pub fn instance(address: &ResourceInstance) -> Self {
        Self(address.to_string().into())
    }

    /// Returns the name of an output's record.
    pub fn output(name: &Name) -> Self {
        Self(format!("output {name}").into())
    }
}

impl fmt::Display for RecordName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The digest of a record's content. It says nothing about the content to those who do not have it, except for values that
/// can be guessed, so it is stored only where the state itself is: in saved plans.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordDigest(Box<str>);

impl RecordDigest {
    fn of(hasher: Sha256) -> Self {
        Self(hasher.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect())
    }

    fn of_instance(view: &InstanceView<'_>) -> Self {
        let mut hasher = Sha256::new();
        let current = view.record.current.iter().map(|object| (None, object));
        for (key, object) in current.chain(view.record.deposed.iter().map(|(key, object)| (Some(key), object))) {
            hasher.update(key.map_or("", |key| key.as_str()).as_bytes());
            hasher.update(object.fingerprint().0);
            hasher.update(view.manager(object).to_string().as_bytes());
            hasher.update([0]);
        }
        Self::of(hasher)
    }

    fn of_output(output: &OutputValue) -> Self {
        let mut hasher = Sha256::new();
        // A value that cannot be encoded is not in a state.
        hasher.update(json::to_json(&output.value, &output.ty).unwrap_or_default());
        hasher.update(output.ty.to_json());
        hasher.update([u8::from(output.sensitive)]);
        Self::of(hasher)
    }
}

/// The digests of all records of a state at one moment.
#[derive(Clone, Debug, Default)]
pub struct RecordDigests {
    digests: BTreeMap<RecordName, RecordDigest>,
    /// The records of each resource, by its address in the configuration.
    resources: BTreeMap<String, Vec<RecordName>>,
}

impl RecordDigests {
    /// Computes the digests of a state.
    pub fn of(state: &State) -> Self {
        Self::of_wanted(state, |_, _| true)
    }

    /// Computes the digests of the records that matter for a plan.
    pub(super) fn of_plan(state: &State, versions: &PlanVersions) -> Self {
        Self::of_wanted(state, |name, resource| versions.has(name) || versions.resources.contains(resource))
    }

    /// Computes the digests of the records that `is_wanted` selects by their names and resources. An output has no resource.
    fn of_wanted(state: &State, is_wanted: impl Fn(&RecordName, &str) -> bool) -> Self {
        let mut digests = Self::default();
        for view in state.iter() {
            let address = view.address();
            let name = RecordName::instance(&address);
            let resource = address.config_resource().to_string();
            if is_wanted(&name, &resource) {
                digests.resources.entry(resource).or_default().push(name.clone());
                digests.digests.insert(name, RecordDigest::of_instance(&view));
            }
        }
        for (name, output) in &state.outputs {
            let name = RecordName::output(name);
            if is_wanted(&name, "") {
                digests.digests.insert(name, RecordDigest::of_output(output));
            }
        }
        digests
    }

    /// Returns the digest of a record; `None` if there is no such record.
    pub(super) fn get(&self, name: &RecordName) -> Option<&RecordDigest> {
        self.digests.get(name)
    }

    fn of_resource(&self, resource: &str) -> &[RecordName] {
        self.resources.get(resource).map_or(&[], Vec::as_slice)
    }
}

/// The records that carrying a plan out changes and depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanRecords {
    /// The records that change.
    pub changed: BTreeSet<RecordName>,
    /// The resources that the changes depend on, with all their instances.
    pub resources: BTreeSet<ConfigResource>,
}

/// The records of a plan with the content that planning found: the condition under which the plan may be carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanVersions {
    /// The records that the plan changes.
    pub changed: BTreeSet<RecordName>,
    /// The resources that it depends on, by their addresses in the configuration.
    resources: BTreeSet<String>,
    /// The digest of each record that it changes or depends on; none for one that did not exist.
    digests: BTreeMap<RecordName, Option<RecordDigest>>,
    /// The serial of the state that was planned with.
    pub serial: u64,
}

impl PlanVersions {
    /// Returns the versions that `found`, the state with this serial, has of a plan's records.
    pub fn new(records: PlanRecords, found: &RecordDigests, serial: u64) -> Self {
        let resources: BTreeSet<String> = records.resources.iter().map(ToString::to_string).collect();
        let read = resources.iter().flat_map(|resource| found.of_resource(resource));
        let digests = records.changed.iter().chain(read);
        let digests = digests.map(|name| (name.clone(), found.get(name).cloned())).collect();
        Self { changed: records.changed, resources, digests, serial }
    }

    /// Returns the records that are not in `now` as they were when planning.
    pub fn outdated(&self, now: &RecordDigests) -> Vec<RecordName> {
        let differs = |(name, digest): &(&RecordName, &Option<RecordDigest>)| now.get(name) != digest.as_ref();
        let changed = self.digests.iter().filter(differs).map(|(name, _)| name);
        let added = self.resources.iter().flat_map(|resource| now.of_resource(resource));
        let added = added.filter(|name| !self.digests.contains_key(name));
        let all: BTreeSet<&RecordName> = changed.chain(added).collect();
        all.into_iter().cloned().collect()
    }

    /// Whether planning has found and used this record.
    pub fn has(&self, name: &RecordName) -> bool {
        self.digests.contains_key(name)
    }
}

/// The records that a run has changed before it made its plan, because it was taken over from another process.
#[derive(Debug, Default)]
pub(super) struct OwnRecords {
    /// The records that it claims.
    pub claims: BTreeSet<RecordName>,
    /// The content of those that it has written; none for a record that it has removed.
    pub written: BTreeMap<RecordName, Option<RecordDigest>>,
}

impl OwnRecords {
    /// Whether the record is as this run has written it.
    pub fn wrote(&self, name: &RecordName, now: &RecordDigests) -> bool {
        self.written.get(name).is_some_and(|digest| digest.as_ref() == now.get(name))
    }
}

/// A record that changed after planning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutdatedRecord {
    /// The record.
    pub name: RecordName,
    /// Its last change by a shared run; none if the log has none since planning.
    pub change: Option<LoggedChange>,
}

/// The largest number of outdated records that a message names.
const SHOWN: usize = 10;

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
        let mut lines: Vec<String> = outdated.iter().take(SHOWN).map(line).collect();
        if let Some(more) = outdated.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            lines.push(format!("  - and {more} more"));
        }
        lines.join("\n")
    }
}

/// Whether an instance has the same objects in both states.
pub(super) fn is_same_instance(one: Option<&InstanceRecord>, other: Option<&InstanceRecord>) -> bool {
    one.filter(|record| !record.is_empty()) == other.filter(|record| !record.is_empty())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use groma_address::{ProviderAddress, ProviderConfig};
    use groma_value::{Type, Value};

    use super::*;
    use crate::object::{AttributesJson, ObjectRecord};

    fn state(objects: &[(&str, &str)], output: Option<&str>) -> State {
        let mut state = State::default();
        let provider = ProviderConfig::default_in_root(ProviderAddress::default_for("cloud"));
        for (address, id) in objects {
            let object = ObjectRecord::new(0, AttributesJson::new(format!("{{\"id\":\"{id}\"}}")));
            state.insert(&address.parse().unwrap(), None, &provider, Arc::new(object));
        }
        if let Some(text) = output {
            let output =
                OutputValue { value: Value::string(text), ty: Type::String, sensitive: false, deprecated: None };
            state.outputs.insert("it".into(), output);
        }
        state
    }

    fn versions(changed: &[&str], resources: &[&str], found: &State) -> PlanVersions {
        let changed = changed.iter().map(|name| RecordName((*name).into())).collect();
        let resources = resources.iter().map(|text| text.parse::<ResourceInstance>().unwrap().config_resource());
        let records = PlanRecords { changed, resources: resources.collect() };
        PlanVersions::new(records, &RecordDigests::of(found), 1)
    }

    fn outdated(versions: &PlanVersions, now: &State) -> Vec<String> {
        versions.outdated(&RecordDigests::of_plan(now, versions)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn only_records_that_a_plan_uses_make_it_stale() {
        let found = state(&[("cloud_it.a", "1"), ("cloud_it.b[0]", "2"), ("cloud_it.c", "3")], Some("x"));
        let plan = versions(&["cloud_it.a", "cloud_it.new"], &["cloud_it.b"], &found);
        let unrelated = state(&[("cloud_it.a", "1"), ("cloud_it.b[0]", "2"), ("cloud_it.d", "4")], Some("y"));
        assert_eq!(outdated(&plan, &unrelated), Vec::<String>::new());
        let own = state(&[("cloud_it.a", "9"), ("cloud_it.b[0]", "2")], None);
        assert_eq!(outdated(&plan, &own), ["cloud_it.a"]);
        let read = state(&[("cloud_it.a", "1"), ("cloud_it.b[0]", "9")], None);
        assert_eq!(outdated(&plan, &read), ["cloud_it.b[0]"]);
        let created = state(&[("cloud_it.a", "1"), ("cloud_it.b[0]", "2"), ("cloud_it.new", "5")], None);
        assert_eq!(outdated(&plan, &created), ["cloud_it.new"]);
        let another = state(&[("cloud_it.a", "1"), ("cloud_it.b[0]", "2"), ("cloud_it.b[1]", "5")], None);
        assert_eq!(outdated(&plan, &another), ["cloud_it.b[1]"]);
        assert_eq!(outdated(&plan, &State::default()), ["cloud_it.a", "cloud_it.b[0]"]);
    }

    #[test]
    fn changed_outputs_are_records_too() {
        let found = state(&[], Some("x"));
        let plan = versions(&["output it"], &[], &found);
        assert_eq!(outdated(&plan, &state(&[], Some("x"))), Vec::<String>::new());
        assert_eq!(outdated(&plan, &state(&[], Some("y"))), ["output it"]);
        assert_eq!(outdated(&plan, &State::default()), ["output it"]);
    }

    #[test]
    fn versions_are_read_back_from_a_plan_file() {
        let found = state(&[("cloud_it.a", "1")], Some("x"));
        let plan = versions(&["cloud_it.a", "cloud_it.b"], &["cloud_it.a"], &found);
        let json = serde_json::to_vec(&plan).unwrap();
        assert_eq!(serde_json::from_slice::<PlanVersions>(&json).unwrap(), plan);
    }
}
