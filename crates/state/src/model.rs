//! State in memory: a record for each instance.

use std::collections::{BTreeMap, HashSet, btree_map};
use std::sync::Arc;

use foldhash::fast::RandomState;
use groma_address::{AbsResource, InstanceKey, Name, ProviderAddress, ProviderConfig, ResourceInstance};
use groma_value::{Type, Value};

use crate::object::{DeposedKey, ObjectRecord};
use crate::random::uuid;

/// What is known of the infrastructure that one configuration (in one workspace) manages.
///
/// Resources are in Terraform's order; looking one up takes logarithmic time, and so does every change. It is not
/// `Clone`: with a million instances nobody should copy it by accident.
#[derive(Debug, Default)]
pub struct State {
    /// Which line of states this one belongs to; the same for all that grew out of each other.
    pub lineage: String,
    /// How many times the content has changed on the way here.
    pub serial: u64,
    /// The version of Terraform that wrote it, or that the writer stands for.
    pub terraform_version: String,
    /// The root module's outputs.
    pub outputs: BTreeMap<Name, OutputValue>,
    /// What the last run's conditions and checks gave; none when no run recorded any.
    pub check_results: Option<Vec<CheckResult>>,
    resources: BTreeMap<AbsResource, ResourceEntry>,
    instances: usize,
    providers: HashSet<Arc<ProviderConfig>, RandomState>,
}

/// The value of a root module output.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputValue {
    /// The value, without marks.
    pub value: Value,
    /// Its type.
    pub ty: Type,
    /// Whether it must not be shown.
    pub sensitive: bool,
    /// OpenTofu's note that the output is deprecated.
    pub deprecated: Option<Name>,
}

/// What became of the conditions of one checkable object of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// `resource`, `output`, `check` or `var`.
    pub object_kind: String,
    /// Its address as written.
    pub config_addr: String,
    /// All its instances together.
    pub status: CheckStatus,
    /// Its instances; none when they are not known.
    pub objects: Option<Vec<CheckedObject>>,
}

/// What became of the conditions of one instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedObject {
    /// Its address.
    pub object_addr: String,
    /// Whether the conditions hold.
    pub status: CheckStatus,
    /// What the failed ones said.
    pub failure_messages: Vec<String>,
}

/// Whether conditions hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckStatus {
    /// All hold.
    Pass,
    /// One does not hold.
    Fail,
    /// One could not be evaluated.
    Error,
    /// Not known yet.
    Unknown,
}

/// A resource with all its instances.
#[derive(Debug, PartialEq)]
pub struct ResourceEntry {
    /// The provider configuration that manages those of its objects that name none of their own.
    pub provider: Arc<ProviderConfig>,
    instances: Instances,
}

/// Most resources have one instance: those need no map.
#[derive(Debug, PartialEq)]
enum Instances {
    One(InstanceKey, InstanceRecord),
    Many(BTreeMap<InstanceKey, InstanceRecord>),
}

/// One instance: its current object and those that wait for deletion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstanceRecord {
    /// The object that the configuration means.
    pub current: Option<Arc<ObjectRecord>>,
    /// Replaced objects that could not be deleted yet.
    pub deposed: BTreeMap<DeposedKey, Arc<ObjectRecord>>,
}

impl InstanceRecord {
    /// Whether there is no object at all.
    pub fn is_empty(&self) -> bool {
        self.current.is_none() && self.deposed.is_empty()
    }

    /// The current object, or the deposed one of that key.
    pub fn object(&self, deposed: Option<&DeposedKey>) -> Option<&Arc<ObjectRecord>> {
        match deposed {
            None => self.current.as_ref(),
            Some(key) => self.deposed.get(key),
        }
    }
}

/// One instance met on the way through a state.
#[derive(Clone, Copy, Debug)]
pub struct InstanceView<'a> {
    /// The resource it is an instance of.
    pub resource: &'a AbsResource,
    /// Which instance of it.
    pub key: &'a InstanceKey,
    /// The provider configuration that manages those of its objects that name none of their own.
    pub provider: &'a ProviderConfig,
    /// Its objects.
    pub record: &'a InstanceRecord,
}

impl<'a> InstanceView<'a> {
    /// The provider configuration that manages one of its objects.
    pub fn manager(&self, object: &'a ObjectRecord) -> &'a ProviderConfig {
        object.provider().map_or(self.provider, |own| own)
    }

    /// The whole address.
    pub fn address(&self) -> ResourceInstance {
        self.resource.instance(self.key.clone())
    }
}

impl ResourceEntry {
    /// The instances in order.
    pub fn instances(&self) -> impl Iterator<Item = (&InstanceKey, &InstanceRecord)> {
        let (one, many) = match &self.instances {
            Instances::One(key, record) => (Some((key, record)), None),
            Instances::Many(map) => (None, Some(map.iter())),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }

    /// One instance.
    pub fn instance(&self, key: &InstanceKey) -> Option<&InstanceRecord> {
        match &self.instances {
            Instances::One(own, record) => (own == key).then_some(record),
            Instances::Many(map) => map.get(key),
        }
    }

    /// How many instances there are.
    pub fn len(&self) -> usize {
        match &self.instances {
            Instances::One(..) => 1,
            Instances::Many(map) => map.len(),
        }
    }

    /// Whether there is no instance: Terraform leaves such resources behind sometimes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn into_instances(self) -> impl Iterator<Item = (InstanceKey, InstanceRecord)> {
        let (one, many) = match self.instances {
            Instances::One(key, record) => (Some((key, record)), None),
            Instances::Many(map) => (None, Some(map)),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }

    fn get_mut(&mut self, key: &InstanceKey) -> Option<&mut InstanceRecord> {
        match &mut self.instances {
            Instances::One(own, record) => (own == key).then_some(record),
            Instances::Many(map) => map.get_mut(key),
        }
    }

    fn remove(&mut self, key: &InstanceKey) -> Option<InstanceRecord> {
        match &mut self.instances {
            Instances::Many(map) => map.remove(key),
            Instances::One(own, _) if own != key => None,
            one @ Instances::One(..) => match std::mem::replace(one, Instances::Many(BTreeMap::new())) {
                Instances::One(_, record) => Some(record),
                Instances::Many(_) => None,
            },
        }
    }

    /// The instance, made now if it is not there yet.
    fn ensure_instance(&mut self, key: &InstanceKey) -> &mut InstanceRecord {
        if let Instances::One(own, _) = &self.instances
            && own != key
        {
            self.insert(key.clone(), InstanceRecord::default());
        }
        if matches!(&self.instances, Instances::Many(map) if map.is_empty()) {
            self.instances = Instances::One(key.clone(), InstanceRecord::default());
        }
        match &mut self.instances {
            Instances::One(_, record) => record,
            Instances::Many(map) => map.entry(key.clone()).or_default(),
        }
    }

    /// Makes room for an instance that is not there yet.
    fn insert(&mut self, key: InstanceKey, record: InstanceRecord) {
        match &mut self.instances {
            Instances::Many(map) if map.is_empty() => self.instances = Instances::One(key, record),
            Instances::Many(map) => {
                map.insert(key, record);
            }
            one @ Instances::One(..) => {
                let mut map = BTreeMap::from([(key, record)]);
                if let Instances::One(key, record) = std::mem::replace(one, Instances::Many(BTreeMap::new())) {
                    map.insert(key, record);
                }
                *one = Instances::Many(map);
            }
        }
    }
}

impl State {
    /// An empty state with a new lineage.
    pub fn new(terraform_version: impl Into<String>) -> Self {
        Self { lineage: uuid(), terraform_version: terraform_version.into(), ..Self::default() }
    }

    /// Whether it manages nothing and has no outputs.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.outputs.is_empty()
    }

    /// How many instances it has.
    pub fn len(&self) -> usize {
        self.instances
    }

    /// The resources in order.
    pub fn resources(&self) -> btree_map::Iter<'_, AbsResource, ResourceEntry> {
        self.resources.iter()
    }

    /// One resource.
    pub fn resource(&self, address: &AbsResource) -> Option<&ResourceEntry> {
        self.resources.get(address)
    }

    /// All instances in order.
    pub fn iter(&self) -> impl Iterator<Item = InstanceView<'_>> {
        self.resources.iter().flat_map(|(resource, entry)| {
            let provider = &entry.provider;
            entry.instances().map(move |(key, record)| InstanceView { resource, key, provider, record })
        })
    }

    /// One instance.
    pub fn get(&self, address: &ResourceInstance) -> Option<&InstanceRecord> {
        self.resources.get(&address.abs_resource())?.instance(&address.key)
    }

    /// The current object of an instance, or its deposed one of that key.
    pub fn object(&self, address: &ResourceInstance, deposed: Option<&DeposedKey>) -> Option<&Arc<ObjectRecord>> {
        self.get(address)?.object(deposed)
    }

    /// The provider configuration that manages the current object of an instance, or its deposed one of that key.
    pub fn provider(&self, address: &ResourceInstance, deposed: Option<&DeposedKey>) -> Option<&ProviderConfig> {
        let entry = self.resources.get(&address.abs_resource())?;
        let own = entry.instance(&address.key).and_then(|record| record.object(deposed)?.provider());
        Some(own.unwrap_or(&entry.provider))
    }

    /// All instances of provider configurations with `for_each` that an object may have been managed by.
    pub fn provider_instances(&self) -> impl Iterator<Item = &ProviderConfig> {
        self.providers.iter().map(|provider| &**provider).filter(|provider| !provider.key.is_none())
    }

    /// Records `object` as the current one (or the deposed one of that key) of an instance; returns the one before.
    pub fn insert(
        &mut self,
        address: &ResourceInstance,
        deposed: Option<&DeposedKey>,
        provider: &ProviderConfig,
        object: Arc<ObjectRecord>,
    ) -> Option<Arc<ObjectRecord>> {
        let object = match (&provider.key, &object.foreign) {
            (InstanceKey::None, None) => object,
            (InstanceKey::None, Some(_)) => object.managed_by(None),
            _ => object.managed_by(Some(&shared(&mut self.providers, provider))),
        };
        let entry = self.ensure_resource(address.abs_resource(), provider);
        let record = entry.ensure_instance(&address.key);
        let is_new = record.is_empty();
        let before = match deposed {
            None => record.current.replace(object),
            Some(key) => record.deposed.insert(key.clone(), object),
        };
        self.instances += usize::from(is_new);
        before
    }

    /// Takes in the objects of `other`, which this state does not have.
    pub fn absorb(&mut self, other: Self) {
        if self.resources.is_empty() {
            (self.resources, self.instances, self.providers) = (other.resources, other.instances, other.providers);
            return;
        }
        // What its objects are managed by is looked for among these when the state is written.
        self.providers.extend(other.providers);
        for (address, entry) in other.resources {
            let claim = entry.claim();
            let known = self.ensure_resource(address, &claim);
            let before = known.len();
            for (key, record) in entry.into_instances() {
                let known = known.ensure_instance(&key);
                known.current = record.current.or(known.current.take());
                known.deposed.extend(record.deposed);
            }
            self.instances += known.len() - before;
        }
    }

    /// Takes an object out; an instance without objects and a resource without instances go with it.
    pub fn remove(&mut self, address: &ResourceInstance, deposed: Option<&DeposedKey>) -> Option<Arc<ObjectRecord>> {
        let record = self.record_mut(address)?;
        let object = match deposed {
            None => record.current.take(),
            Some(key) => record.deposed.remove(key),
        }?;
        if record.is_empty() {
            self.remove_instance(address);
        }
        Some(object)
    }

    /// Takes an instance out with all its objects.
    pub fn remove_instance(&mut self, address: &ResourceInstance) -> Option<InstanceRecord> {
        let btree_map::Entry::Occupied(mut entry) = self.resources.entry(address.abs_resource()) else { return None };
        let record = entry.get_mut().remove(&address.key)?;
        self.instances -= 1;
        if entry.get().is_empty() {
            entry.remove();
        }
        Some(record)
    }

    /// Makes the current object a deposed one, under a new key, which is returned; none when there is no current one.
    pub fn depose(&mut self, address: &ResourceInstance) -> Option<DeposedKey> {
        let record = self.record_mut(address)?;
        let object = record.current.take()?;
        let mut key = DeposedKey::generate();
        while record.deposed.contains_key(&key) {
            key = DeposedKey::generate();
        }
        record.deposed.insert(key.clone(), object);
        Some(key)
    }

    /// Makes a deposed object the current one again: when its replacement could not be created.
    ///
    /// Returns whether it did: there is such an object, and no current one.
    pub fn restore(&mut self, address: &ResourceInstance, key: &DeposedKey) -> bool {
        let Some(record) = self.record_mut(address).filter(|record| record.current.is_none()) else { return false };
        record.current = record.deposed.remove(key);
        record.current.is_some()
    }

    /// Moves an instance with all its objects to another address.
    ///
    /// Returns whether it did: there is such an instance, and none at the other address.
    pub fn rename(&mut self, from: &ResourceInstance, to: &ResourceInstance) -> bool {
        if self.get(to).is_some() {
            return false;
        }
        let Some(provider) = self.provider(from, None).cloned() else { return false };
        let Some(record) = self.remove_instance(from) else { return false };
        self.ensure_resource(to.abs_resource(), &provider).insert(to.key.clone(), record);
        self.instances += 1;
        true
    }

    /// Lets another provider manage a resource, by the configuration that is called the same; returns whether there is such a
    /// resource.
    pub fn manage_by(&mut self, resource: &AbsResource, provider: &ProviderAddress) -> bool {
        let Some(mut entry) = self.resources.remove(resource) else { return false };
        let providers = &mut self.providers;
        let mut other =
            |known: &ProviderConfig| shared(providers, &ProviderConfig { provider: provider.clone(), ..known.clone() });
        entry.provider = other(&entry.provider);
        for object in entry.objects_mut() {
            if let Some(own) = object.provider().map(|own| other(own)) {
                *object = Arc::clone(object).managed_by(Some(&own));
            }
        }
        self.resources.insert(resource.clone(), entry);
        true
    }

    /// Makes sure that the resource is there, managed by `provider`, be it without instances. What an instance of a provider block
    /// manages says nothing about the other objects of the resource.
    pub(crate) fn ensure_resource(&mut self, address: AbsResource, provider: &ProviderConfig) -> &mut ResourceEntry {
        let providers = &mut self.providers;
        match self.resources.entry(address) {
            btree_map::Entry::Vacant(entry) => {
                let provider = match provider.key {
                    InstanceKey::None => shared(providers, provider),
                    _ => shared(providers, &provider.block()),
                };
                entry.insert(ResourceEntry::empty(provider))
            }
            btree_map::Entry::Occupied(entry) => {
                let entry = entry.into_mut();
                if provider.key.is_none() && *entry.provider != *provider {
                    entry.provider = shared(providers, provider);
                }
                entry
            }
        }
    }

    fn record_mut(&mut self, address: &ResourceInstance) -> Option<&mut InstanceRecord> {
        self.resources.get_mut(&address.abs_resource())?.get_mut(&address.key)
    }
}

/// The one copy that everything in the state has of a provider configuration.
fn shared(known: &mut HashSet<Arc<ProviderConfig>, RandomState>, provider: &ProviderConfig) -> Arc<ProviderConfig> {
    if let Some(shared) = known.get(provider) {
        return Arc::clone(shared);
    }
    let shared = Arc::new(provider.clone());
    known.insert(Arc::clone(&shared));
    shared
}

impl ResourceEntry {
    /// The provider configuration that a state which takes the entry in is told: the resource's, unless each object has its own.
    fn claim(&self) -> Arc<ProviderConfig> {
        let mut own = None;
        for object in self.objects() {
            match object.provider() {
                Some(provider) => own = Some(provider),
                None => return Arc::clone(&self.provider),
            }
        }
        own.map_or_else(|| Arc::clone(&self.provider), Arc::clone)
    }

    /// The objects of all instances.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &Arc<ObjectRecord>> {
        self.instances().flat_map(|(_, record)| record.current.iter().chain(record.deposed.values()))
    }

    fn objects_mut(&mut self) -> impl Iterator<Item = &mut Arc<ObjectRecord>> {
        let records: Box<dyn Iterator<Item = &mut InstanceRecord>> = match &mut self.instances {
            Instances::One(_, record) => Box::new(std::iter::once(record)),
            Instances::Many(records) => Box::new(records.values_mut()),
        };
        records.flat_map(|record| record.current.iter_mut().chain(record.deposed.values_mut()))
    }

    fn empty(provider: Arc<ProviderConfig>) -> Self {
        Self { provider, instances: Instances::Many(BTreeMap::new()) }
    }
}

#[cfg(test)]
mod tests {
    use groma_address::ProviderAddress;
    use proptest::prelude::*;

    use super::*;
    use crate::object::AttributesJson;

    fn provider() -> ProviderConfig {
        ProviderConfig::default_in_root(ProviderAddress::builtin_terraform())
    }

    fn address(text: &str) -> ResourceInstance {
        text.parse().unwrap()
    }

    fn object(id: &str) -> Arc<ObjectRecord> {
        Arc::new(ObjectRecord::new(0, AttributesJson::new(format!("{{\"id\":\"{id}\"}}"))))
    }

    fn shown(state: &State) -> Vec<String> {
        let current = |view: InstanceView<'_>| {
            let deposed: Vec<_> = view.record.deposed.values().filter_map(|object| object.id_json()).collect();
            let current = view.record.current.as_ref().and_then(|object| object.id_json());
            format!("{} {} {deposed:?}", view.address(), current.unwrap_or_default())
        };
        state.iter().map(current).collect()
    }

    #[test]
    fn instances_come_in_terraforms_order() {
        let mut state = State::new("1.15.5");
        for text in ["module.a.x.y", "x.y[10]", "x.y[9]", "x.y", "data.x.y", "x.a"] {
            state.insert(&address(text), None, &provider(), object("i"));
        }
        let order: Vec<_> = state.iter().map(|view| view.address().to_string()).collect();
        assert_eq!(order, ["data.x.y", "x.a", "x.y", "x.y[9]", "x.y[10]", "module.a.x.y"]);
        assert_eq!(state.len(), 6);
    }

    #[test]
    fn a_replaced_object_is_deposed_until_it_is_deleted() {
        let mut state = State::new("1.15.5");
        let x = address("x.y");
        state.insert(&x, None, &provider(), object("old"));
        let key = state.depose(&x).unwrap();
        state.insert(&x, None, &provider(), object("new"));
        assert_eq!(shown(&state), ["x.y \"new\" [\"\\\"old\\\"\"]"]);
        assert!(!state.restore(&x, &key), "there is a current object");
        assert!(state.remove(&x, None).is_some());
        assert!(state.restore(&x, &key));
        assert_eq!(shown(&state), ["x.y \"old\" []"]);
        assert!(state.remove(&x, None).is_some());
        assert!(state.is_empty());
        assert_eq!(state.len(), 0);
    }

    #[test]
    fn a_moved_instance_keeps_its_objects_and_its_provider() {
        let mut state = State::new("1.15.5");
        state.insert(&address("x.y"), None, &provider(), object("a"));
        state.insert(&address("x.z"), None, &provider(), object("b"));
        assert!(!state.rename(&address("x.y"), &address("x.z")), "the place is taken");
        assert!(state.rename(&address("x.y"), &address("module.m.x.y[0]")));
        assert!(!state.rename(&address("x.y"), &address("x.q")), "it is gone");
        assert_eq!(shown(&state), ["x.z \"b\" []", "module.m.x.y[0] \"a\" []"]);
        assert_eq!(state.provider(&address("module.m.x.y[0]"), None), Some(&provider()));
    }

    #[test]
    fn objects_that_are_taken_in_keep_the_provider_instance_that_manages_them() {
        let alias = ProviderConfig { alias: Some("each".into()), ..provider() };
        let manager = alias.instance(InstanceKey::String("a".into()));
        let (mut state, mut made) = (State::new("1.15.5"), State::new("1.15.5"));
        state.insert(&address("x.y"), None, &provider(), object("old"));
        made.insert(&address("x.z"), None, &manager, object("new"));
        state.absorb(made);
        assert_eq!(state.provider(&address("x.z"), None), Some(&manager));
        assert_eq!(state.provider_instances().collect::<Vec<_>>(), [&manager]);
        let read = crate::file::read(&crate::file::write(&state)).unwrap();
        assert_eq!(read.provider(&address("x.z"), None), Some(&manager));
    }

    proptest! {
        #[test]
        fn it_behaves_as_a_map_of_objects(steps in prop::collection::vec((0..2_u8, 0..4_u64, 0..3_u8, any::<bool>()), 0..60)) {
            let mut state = State::new("1.15.5");
            let mut model = BTreeMap::new();
            let keys = [None, DeposedKey::new("00000001"), DeposedKey::new("00000002")];
            for (number, (resource, key, deposed, insert)) in steps.into_iter().enumerate() {
                let instance = address(&format!("x.r{resource}[{key}]"));
                let deposed = keys[usize::from(deposed)].clone();
                let slot = (instance.clone(), deposed.clone());
                let expected = if insert {
                    let new = object(&number.to_string());
                    prop_assert_eq!(
                        state.insert(&instance, deposed.as_ref(), &provider(), new.clone()),
                        model.insert(slot, new)
                    );
                    continue;
                } else {
                    model.remove(&slot)
                };
                prop_assert_eq!(state.remove(&instance, deposed.as_ref()), expected);
            }
            let mut found = BTreeMap::new();
            for view in state.iter() {
                prop_assert!(!view.record.is_empty());
                found.extend(view.record.current.iter().map(|object| ((view.address(), None), object.clone())));
                found.extend(
                    view.record.deposed.iter().map(|(key, object)| ((view.address(), Some(key.clone())), object.clone())),
                );
            }
            prop_assert_eq!(found, model);
            prop_assert_eq!(state.len(), state.iter().count());
        }
    }
}
