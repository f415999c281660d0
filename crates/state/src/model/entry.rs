//! A resource in the state: its instances, and their objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_address::{AbsResource, InstanceKey, Name, ProviderConfig, ResourceInstance};
use groma_value::{Type, Value};

use crate::object::{DeposedKey, ObjectRecord};

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

impl ResourceEntry {
    /// The instances in order.
    pub fn instances(&self) -> impl Iterator<Item = (&InstanceKey, &InstanceRecord)> {
        let (one, many) = match &self.instances {
            Instances::One(key, record) => (Some((key, record)), None),
            Instances::Many(map) => (None, Some(map.iter())),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }

    /// Returns one instance.
    pub fn instance(&self, key: &InstanceKey) -> Option<&InstanceRecord> {
        match &self.instances {
            Instances::One(own, record) => (own == key).then_some(record),
            Instances::Many(map) => map.get(key),
        }
    }

    /// Returns the number of instances.
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

    pub(super) fn into_instances(self) -> impl Iterator<Item = (InstanceKey, InstanceRecord)> {
        let (one, many) = match self.instances {
            Instances::One(key, record) => (Some((key, record)), None),
            Instances::Many(map) => (None, Some(map)),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }

    pub(super) fn get_mut(&mut self, key: &InstanceKey) -> Option<&mut InstanceRecord> {
        match &mut self.instances {
            Instances::One(own, record) => (own == key).then_some(record),
            Instances::Many(map) => map.get_mut(key),
        }
    }

    pub(super) fn remove(&mut self, key: &InstanceKey) -> Option<InstanceRecord> {
        match &mut self.instances {
            Instances::Many(map) => map.remove(key),
            Instances::One(own, _) if own != key => None,
            // A removed last instance leaves an empty map, so that the entry can be reused or dropped by the caller.
            one @ Instances::One(..) => match std::mem::replace(one, Instances::Many(BTreeMap::new())) {
                Instances::One(_, record) => Some(record),
                Instances::Many(_) => None,
            },
        }
    }

    /// The instance, made now if it is not there yet.
    pub(super) fn ensure_instance(&mut self, key: &InstanceKey) -> &mut InstanceRecord {
        if let Instances::One(own, _) = &self.instances
            && own != key
        {
            self.insert(key.clone(), InstanceRecord::default());
        }
        // Back to the form without a map, which most resources use.
        if matches!(&self.instances, Instances::Many(map) if map.is_empty()) {
            self.instances = Instances::One(key.clone(), InstanceRecord::default());
        }
        match &mut self.instances {
            Instances::One(_, record) => record,
            Instances::Many(map) => map.entry(key.clone()).or_default(),
        }
    }

    /// Makes room for an instance that is not there yet.
    pub(super) fn insert(&mut self, key: InstanceKey, record: InstanceRecord) {
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

    /// The provider configuration for a state that the entry moves to: the resource's, unless each object has its own.
    pub(super) fn claim(&self) -> Arc<ProviderConfig> {
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

    pub(super) fn objects_mut(&mut self) -> impl Iterator<Item = &mut Arc<ObjectRecord>> {
        // Two iterator types need a box here; the method is used only for rare changes of a whole state.
        let records: Box<dyn Iterator<Item = &mut InstanceRecord>> = match &mut self.instances {
            Instances::One(_, record) => Box::new(std::iter::once(record)),
            Instances::Many(records) => Box::new(records.values_mut()),
        };
        records.flat_map(|record| record.current.iter_mut().chain(record.deposed.values_mut()))
    }

    pub(super) fn empty(provider: Arc<ProviderConfig>) -> Self {
        Self { provider, instances: Instances::Many(BTreeMap::new()) }
    }
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
    /// The instance key.
    pub key: &'a InstanceKey,
    /// The provider configuration that manages those of its objects that name none of their own.
    pub provider: &'a ProviderConfig,
    /// The record with the instance's objects.
    pub record: &'a InstanceRecord,
}

impl<'a> InstanceView<'a> {
    /// The provider configuration that manages one of its objects.
    pub fn manager(&self, object: &'a ObjectRecord) -> &'a ProviderConfig {
        object.provider().map_or(self.provider, |own| own)
    }

    /// Returns the full address of the instance.
    pub fn address(&self) -> ResourceInstance {
        self.resource.instance(self.key.clone())
    }
}

/// The value of a root module output.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputValue {
    /// The value, without marks.
    pub value: Value,
    /// The type of the value.
    pub ty: Type,
    /// Whether it must not be shown.
    pub sensitive: bool,
    /// OpenTofu's note that the output is deprecated.
    pub deprecated: Option<Name>,
}

/// The results of the conditions of one checkable object in the configuration.
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

/// The results of the conditions of one instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedObject {
    /// The address of the instance.
    pub object_addr: String,
    /// Whether the conditions hold.
    pub status: CheckStatus,
    /// The error messages of the failed conditions.
    pub failure_messages: Vec<String>,
}

/// The status of conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckStatus {
    /// All conditions hold.
    Pass,
    /// One does not hold.
    Fail,
    /// One could not be evaluated.
    Error,
    /// The result is not known yet.
    Unknown,
}
