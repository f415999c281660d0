//! State in memory: a record for each instance.

mod entry;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, btree_map};
use std::sync::Arc;

use foldhash::fast::RandomState;
use groma_address::{
    AbsResource, ConfigResource, InstanceKey, Name, ProviderAddress, ProviderConfig, ResourceInstance,
};

pub use self::entry::{
    CheckResult, CheckStatus, CheckedObject, InstanceRecord, InstanceView, OutputValue, ResourceEntry,
};
use crate::dependencies::Dependencies;
use crate::object::{DeposedKey, ObjectRecord};
use crate::random::uuid;

/// The state of one workspace: every managed object, the outputs, and the results of checks.
///
/// Owns one [`ResourceEntry`] for each resource, in Terraform's order, with an [`InstanceRecord`] for each instance.
/// Attributes stay JSON text, because decoding them requires a provider schema, which this crate does not have.
///
/// Guarantees that lookups and changes take logarithmic time, and that equal provider addresses are stored once.
/// Changes in memory touch neither `serial` nor the file: [`crate::LocalStore::save`] compares the content with the
/// file and counts the serial up only if they differ.
///
/// Not `Clone`: with a million instances nobody should copy it by accident.
#[derive(Debug, Default)]
pub struct State {
    /// The identity that all versions of one state share.
    pub lineage: String,
    /// The number of changes to the content so far.
    pub serial: u64,
    /// The version of Terraform that wrote the state, or with which the writer is compatible.
    pub terraform_version: String,
    /// The root module's outputs.
    pub outputs: BTreeMap<Name, OutputValue>,
    /// The results of the last run's conditions and checks; `None` if no run recorded any.
    pub check_results: Option<Vec<CheckResult>>,
    resources: BTreeMap<AbsResource, ResourceEntry>,
    instances: usize,
    providers: KnownProviders,
}

impl State {
    /// An empty state with a new lineage.
    pub fn new(terraform_version: impl Into<String>) -> Self {
        // A new lineage, so that this state is never mistaken for a version of another one.
        Self { lineage: uuid(), terraform_version: terraform_version.into(), ..Self::default() }
    }

    /// Whether it manages nothing and has no outputs.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.outputs.is_empty()
    }

    /// Returns the number of instances.
    pub fn len(&self) -> usize {
        self.instances
    }

    /// The resources in order.
    pub fn resources(&self) -> btree_map::Iter<'_, AbsResource, ResourceEntry> {
        self.resources.iter()
    }

    /// Returns the entry of a resource.
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

    /// Returns the record of an instance.
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
        self.providers.instances()
    }

    /// Records `object` as the current one (or the deposed one of that key) of an instance; returns the one before.
    pub fn insert(
        &mut self,
        address: &ResourceInstance,
        deposed: Option<&DeposedKey>,
        provider: &ProviderConfig,
        object: Arc<ObjectRecord>,
    ) -> Option<Arc<ObjectRecord>> {
        // Terraform has no provider keys in states, so only an object of a keyed provider stores one (as OpenTofu
        // does).
        let object = match &provider.key {
            InstanceKey::None => object.managed_by(None),
            _ => object.managed_by(Some(&self.providers.shared(provider))),
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
        // Usually the run began without objects, and then nothing has to be merged.
        if self.resources.is_empty() {
            (self.resources, self.instances, self.providers) = (other.resources, other.instances, other.providers);
            return;
        }
        // What its objects are managed by is looked for among these when the state is written.
        self.providers.absorb(other.providers);
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
        // Terraform removes instances without objects, and expects none of them in a state.
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
        // A key is random and short, so a collision within one instance is possible.
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
        // A new current object exists if the replacement succeeded after all; then the old one stays deposed.
        let Some(record) = self.record_mut(address).filter(|record| record.current.is_none()) else { return false };
        record.current = record.deposed.remove(key);
        record.current.is_some()
    }

    /// Moves an instance with all its objects to another address.
    ///
    /// Returns whether it did: there is such an instance, and none at the other address.
    pub fn rename(&mut self, from: &ResourceInstance, to: &ResourceInstance) -> bool {
        // An occupied target is a conflict of moves, which the caller reports.
        if self.get(to).is_some() {
            return false;
        }
        // Read before the removal, which may delete the last entry that names the provider.
        let Some(provider) = self.provider(from, None).cloned() else { return false };
        let Some(record) = self.remove_instance(from) else { return false };
        self.ensure_resource(to.abs_resource(), &provider).insert(to.key.clone(), record);
        self.instances += 1;
        true
    }

    /// Renames resources in the recorded dependencies of all objects, from the first to the second address of each pair.
    pub fn rename_dependencies(&mut self, names: &HashMap<ConfigResource, BTreeSet<ConfigResource>>) {
        // Objects that lie side by side mostly have one list.
        let mut last: Option<(Dependencies, Dependencies)> = None;
        for object in self.resources.values_mut().flat_map(ResourceEntry::objects_mut) {
            // Objects share their lists, so a comparison of pointers finds nearly all equal ones.
            if let Some((_, new)) = last.as_ref().filter(|(old, _)| old.is_same_list(&object.dependencies)) {
                Arc::make_mut(object).dependencies = new.clone();
            } else if object.dependencies.iter().any(|dependency| names.contains_key(dependency)) {
                let mut new = Vec::with_capacity(object.dependencies.len());
                for dependency in object.dependencies.iter() {
                    match names.get(dependency) {
                        Some(now) => new.extend(now.iter().cloned()),
                        None => new.push(dependency.clone()),
                    }
                }
                let new = Dependencies::new(new);
                last = Some((object.dependencies.clone(), new.clone()));
                Arc::make_mut(object).dependencies = new;
            }
        }
    }

    /// Lets another provider manage a resource, by the configuration that is called the same; returns whether there is such a
    /// resource.
    pub fn manage_by(&mut self, resource: &AbsResource, provider: &ProviderAddress) -> bool {
        let Some(mut entry) = self.resources.remove(resource) else { return false };
        let providers = &mut self.providers;
        let mut other =
            // The module and the alias stay the same: only the source address of the provider changes.
            |known: &ProviderConfig| providers.shared(&ProviderConfig { provider: provider.clone(), ..known.clone() });
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
                    InstanceKey::None => providers.shared(provider),
                    // Resources are written with the provider block; the instance is stored with each object.
                    _ => providers.shared(&provider.block()),
                };
                entry.insert(ResourceEntry::empty(provider))
            }
            btree_map::Entry::Occupied(entry) => {
                let entry = entry.into_mut();
                // The newest record decides, as in Terraform, which writes one provider for each resource.
                if provider.key.is_none() && *entry.provider != *provider {
                    entry.provider = providers.shared(provider);
                }
                entry
            }
        }
    }

    fn record_mut(&mut self, address: &ResourceInstance) -> Option<&mut InstanceRecord> {
        self.resources.get_mut(&address.abs_resource())?.get_mut(&address.key)
    }
}

/// The provider configurations that the objects of a state have been managed by: one copy of each, which they share.
#[derive(Debug, Default)]
struct KnownProviders(HashSet<Arc<ProviderConfig>, RandomState>);

impl KnownProviders {
    /// The copy that everything in the state has of a configuration.
    fn shared(&mut self, provider: &ProviderConfig) -> Arc<ProviderConfig> {
        if let Some(shared) = self.0.get(provider) {
            return Arc::clone(shared);
        }
        let shared = Arc::new(provider.clone());
        self.0.insert(Arc::clone(&shared));
        shared
    }

    /// Provider configurations that are instances of a block with `for_each`.
    fn instances(&self) -> impl Iterator<Item = &ProviderConfig> {
        self.0.iter().map(|provider| &**provider).filter(|provider| !provider.key.is_none())
    }

    /// Takes in those of another state.
    fn absorb(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

#[cfg(test)]
mod tests;
