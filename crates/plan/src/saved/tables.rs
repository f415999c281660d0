//! Data that many changes of a saved plan share: written once and referred to by number.

use std::borrow::Cow;
use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use groma_address::{
    AbsResource, InstanceKey, Mode, Name, ProviderAddress, ProviderConfig, Resource, ResourceInstance,
};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_provider::Schema;
use serde::{Deserialize, Serialize};

/// A resource type with its provider configuration.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Kind {
    provider: u32,
    /// The first resource of the type.
    resource: u32,
}

/// A position as the number that a file keeps.
pub(super) fn narrow(position: usize) -> u32 {
    // So many positions do not fit into memory.
    u32::try_from(position).unwrap_or(u32::MAX)
}

/// Numbers given while a plan is written.
#[derive(Default)]
pub(super) struct Numbered<'a> {
    pub(super) resources: Vec<AbsResource>,
    pub(super) providers: Vec<&'a ProviderConfig>,
    pub(super) kinds: Vec<Kind>,
    by_type: HashMap<(u32, Mode, Name), u32>,
    by_config: HashMap<&'a ProviderConfig, u32>,
    last: Option<(&'a ProviderConfig, u32)>,
}

impl<'a> Numbered<'a> {
    /// Changes are in the order of their addresses, so those of one resource follow each other.
    pub(super) fn resource(&mut self, address: &ResourceInstance) -> u32 {
        let is_last = |last: &AbsResource| last.resource == address.resource && last.module == address.module;
        if !self.resources.last().is_some_and(is_last) {
            self.resources.push(address.abs_resource());
        }
        narrow(self.resources.len() - 1)
    }

    /// Most changes have the provider of the one before.
    pub(super) fn provider(&mut self, provider: &'a ProviderConfig) -> u32 {
        if let Some((_, number)) = self.last.filter(|(last, _)| *last == provider) {
            return number;
        }
        let providers = &mut self.providers;
        let number = *self.by_config.entry(provider).or_insert_with(|| {
            providers.push(provider);
            narrow(providers.len() - 1)
        });
        self.last = Some((provider, number));
        number
    }

    /// The kind of a change of `address`, whose resource has the number `resource`.
    pub(super) fn kind(&mut self, address: &ResourceInstance, resource: u32, provider: &'a ProviderConfig) -> u32 {
        let provider = self.provider(provider);
        let kinds = &mut self.kinds;
        let kind = (provider, address.resource.mode, address.resource.type_name.clone());
        *self.by_type.entry(kind).or_insert_with(|| {
            kinds.push(Kind { provider, resource });
            narrow(kinds.len() - 1)
        })
    }
}

/// The decoded tables that need no schemas.
#[derive(Default)]
pub(super) struct Addresses {
    resources: Vec<AbsResource>,
    providers: Vec<Arc<ProviderConfig>>,
}

impl Addresses {
    /// Reads the tables of a plan; none where one is damaged.
    pub(super) fn read(resources: &[String], providers: &[String]) -> Option<Self> {
        Some(Self {
            resources: resources.iter().map(|text| text.parse().ok()).collect::<Option<_>>()?,
            providers: providers.iter().map(|text| text.parse().ok().map(Arc::new)).collect::<Option<_>>()?,
        })
    }
}

/// The decoded tables. They are immutable, so that threads can share them.
#[derive(Default)]
pub(super) struct Known {
    addresses: Addresses,
    kinds: Vec<(Arc<ProviderConfig>, Arc<Schema>)>,
}

impl Known {
    /// Adds what `kinds` mean; schemas come from the providers.
    pub(super) fn new(addresses: Addresses, kinds: &[Kind], schemas: &mut dyn Schemas) -> Result<Self, Diagnostics> {
        let mut known = Self { addresses, kinds: Vec::with_capacity(kinds.len()) };
        for kind in kinds {
            let provider = known.provider(kind.provider).ok_or_else(damaged)?.clone();
            let first = known.addresses.resources.get(kind.resource as usize).ok_or_else(damaged)?;
            let schema = schemas.resource(&provider.provider, &first.resource)?;
            known.kinds.push((provider, schema));
        }
        Ok(known)
    }

    pub(super) fn instance(&self, resource: u32, key: Key<'_>) -> Option<ResourceInstance> {
        Some(self.addresses.resources.get(resource as usize)?.instance(key.key()))
    }

    pub(super) fn provider(&self, number: u32) -> Option<&Arc<ProviderConfig>> {
        self.addresses.providers.get(number as usize)
    }

    pub(super) fn kind(&self, number: u32) -> Option<&(Arc<ProviderConfig>, Arc<Schema>)> {
        self.kinds.get(number as usize)
    }
}

/// A bug of ours: a value that does not fit its type.
pub(super) type Unwritable = Box<dyn Error>;

/// Returns the error for bytes that are not a plan.
pub(super) fn not_a_plan(why: &str) -> Diagnostics {
    let detail = format!("The plan in the file cannot be used: {why}. Create a new plan.");
    Diagnostic::error("Failed to read plan file", detail).into()
}

pub(super) fn damaged() -> Diagnostics {
    not_a_plan("it is damaged")
}

/// Finds the schemas of a plan that is read: the file names types only.
pub trait Schemas {
    /// Returns the schema of a resource's type.
    ///
    /// # Errors
    ///
    /// The provider cannot be started, or has no such type.
    fn resource(&mut self, provider: &ProviderAddress, resource: &Resource) -> Result<Arc<Schema>, Diagnostics>;

    /// Returns the schema of an action type.
    ///
    /// # Errors
    ///
    /// The provider cannot be started, or has no such type.
    fn action(&mut self, provider: &ProviderAddress, type_name: &Name) -> Result<Arc<Schema>, Diagnostics>;
}

/// The key of an instance.
#[derive(Serialize, Deserialize)]
pub(super) enum Key<'a> {
    None,
    Int(u64),
    String(Cow<'a, str>),
}

impl<'a> Key<'a> {
    pub(super) fn of(key: &'a InstanceKey) -> Self {
        match key {
            InstanceKey::None => Self::None,
            InstanceKey::Int(index) => Self::Int(*index),
            InstanceKey::String(key) => Self::String((&**key).into()),
        }
    }

    pub(super) fn key(self) -> InstanceKey {
        match self {
            Self::None => InstanceKey::None,
            Self::Int(index) => InstanceKey::Int(index),
            Self::String(key) => InstanceKey::String((&*key).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_of_one_resource_share_its_number_and_come_back_with_their_keys() {
        let texts = ["a.b", "module.m[0].a.b[0]", "module.m[0].a.b[1]", "module.m[1].a.b[\"k $${x}\"]", "a.b"];
        let addresses: Vec<ResourceInstance> = texts.iter().map(|text| text.parse().unwrap()).collect();
        let mut numbered = Numbered::default();
        let numbers: Vec<u32> = addresses.iter().map(|address| numbered.resource(address)).collect();
        assert_eq!(numbers, [0, 1, 1, 2, 3]);
        let tables = Addresses { resources: numbered.resources, ..Addresses::default() };
        let known = Known { addresses: tables, ..Known::default() };
        for (address, number) in addresses.iter().zip(numbers) {
            assert_eq!(known.instance(number, Key::of(&address.key)).as_ref(), Some(address));
        }
        assert_eq!(known.instance(4, Key::None), None);
        assert!(known.provider(0).is_none());
    }
}
