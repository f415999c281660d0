//! The types in use: each is requested once and kept.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, OnceLock};

use groma_provider::{ProviderDiagnostic, ProviderDiagnostics};

use super::panic;
use crate::{Action, DataSource, Definition, EphemeralResource, ListResource, Name, Resource, StateStore};

/// Types by name, as far as they have been used.
#[derive(Default)]
pub(super) struct Types {
    resources: FrozenMap<dyn Resource>,
    data_sources: FrozenMap<dyn DataSource>,
    ephemeral: FrozenMap<dyn EphemeralResource>,
    lists: FrozenMap<dyn ListResource>,
    actions: FrozenMap<dyn Action>,
    state_stores: FrozenMap<dyn StateStore>,
}

impl Types {
    pub(super) fn resource(
        &self,
        definition: &dyn Definition,
        type_name: &str,
    ) -> Result<Option<&dyn Resource>, ProviderDiagnostics> {
        lookup(&self.resources, type_name, || definition.resource(type_name))
    }

    pub(super) fn data_source(
        &self,
        definition: &dyn Definition,
        type_name: &str,
    ) -> Result<Option<&dyn DataSource>, ProviderDiagnostics> {
        lookup(&self.data_sources, type_name, || definition.data_source(type_name))
    }

    pub(super) fn ephemeral(
        &self,
        definition: &dyn Definition,
        type_name: &str,
    ) -> Result<Option<&dyn EphemeralResource>, ProviderDiagnostics> {
        lookup(&self.ephemeral, type_name, || definition.ephemeral_resource(type_name))
    }

    pub(super) fn list(
        &self,
        definition: &dyn Definition,
        type_name: &str,
    ) -> Result<Option<&dyn ListResource>, ProviderDiagnostics> {
        lookup(&self.lists, type_name, || definition.list_resource(type_name))
    }

    pub(super) fn action(
        &self,
        definition: &dyn Definition,
        type_name: &str,
    ) -> Result<Option<&dyn Action>, ProviderDiagnostics> {
        lookup(&self.actions, type_name, || definition.action(type_name))
    }

    pub(super) fn state_store(
        &self,
        definition: &dyn Definition,
        type_name: &str,
    ) -> Result<Option<&dyn StateStore>, ProviderDiagnostics> {
        lookup(&self.state_stores, type_name, || definition.state_store(type_name))
    }

    /// Like [`Types::state_store`], but fails for unknown names.
    pub(super) fn known_state_store(
        &self,
        definition: &dyn Definition,
        type_name: &str,
    ) -> Result<&dyn StateStore, ProviderDiagnostics> {
        self.state_store(definition, type_name)?.ok_or_else(|| unknown("state store type", type_name))
    }

    /// Like [`Types::list`], but fails for unknown names.
    pub(super) fn known_list(
        &self,
        definition: &dyn Definition,
        type_name: &str,
    ) -> Result<&dyn ListResource, ProviderDiagnostics> {
        self.list(definition, type_name)?.ok_or_else(|| unknown("list resource type", type_name))
    }

    /// Like [`Types::action`], but fails for unknown names.
    pub(super) fn known_action(
        &self,
        definition: &dyn Definition,
        type_name: &str,
    ) -> Result<&dyn Action, ProviderDiagnostics> {
        self.action(definition, type_name)?.ok_or_else(|| unknown("action type", type_name))
    }

    /// Like [`Types::ephemeral`], but fails for unknown names.
    pub(super) fn known_ephemeral(
        &self,
        definition: &dyn Definition,
        type_name: &str,
    ) -> Result<&dyn EphemeralResource, ProviderDiagnostics> {
        self.ephemeral(definition, type_name)?.ok_or_else(|| unknown("ephemeral resource type", type_name))
    }

    /// Like [`Types::resource`], but fails for unknown names.
    pub(super) fn known_resource(
        &self,
        definition: &dyn Definition,
        type_name: &str,
    ) -> Result<&dyn Resource, ProviderDiagnostics> {
        self.resource(definition, type_name)?.ok_or_else(|| unknown("resource type", type_name))
    }

    /// Like [`Types::data_source`], but fails for unknown names.
    pub(super) fn known_data_source(
        &self,
        definition: &dyn Definition,
        type_name: &str,
    ) -> Result<&dyn DataSource, ProviderDiagnostics> {
        self.data_source(definition, type_name)?.ok_or_else(|| unknown("data source", type_name))
    }
}

fn lookup<'a, T: ?Sized>(
    known: &'a FrozenMap<T>,
    type_name: &str,
    load: impl FnOnce() -> Result<Option<Arc<T>>, ProviderDiagnostics>,
) -> Result<Option<&'a T>, ProviderDiagnostics> {
    if let Some(found) = known.get(type_name) {
        return Ok(Some(found));
    }
    // Two threads may load one type at the same time; the first insertion wins, and both use it.
    Ok(panic::catch("type lookup", load)??.and_then(|loaded| known.insert(type_name, loaded)))
}

fn unknown(kind: &str, type_name: &str) -> ProviderDiagnostics {
    ProviderDiagnostic::error(
        format!("Unknown {kind}"),
        format!("The provider has no {kind} named {type_name}. A newer version of the provider may have it."),
    )
    .into()
}

/// A map that only grows, so that its values can be borrowed as long as the map itself. Entries are added once and
/// never changed or removed; adding needs no exclusive access.
pub(crate) struct FrozenMap<T: ?Sized> {
    /// Allocated by the first insertion.
    buckets: OnceLock<Box<[Bucket<T>]>>,
    hasher: RandomState,
}

type Bucket<T> = OnceLock<Box<Entry<T>>>;

struct Entry<T: ?Sized> {
    name: Name,
    value: Arc<T>,
    next: OnceLock<Box<Entry<T>>>,
}

/// Chains stay short up to some thousands of entries.
const BUCKETS: usize = 512;

impl<T: ?Sized> Default for FrozenMap<T> {
    fn default() -> Self {
        Self { buckets: OnceLock::new(), hasher: RandomState::new() }
    }
}

impl<T: ?Sized> FrozenMap<T> {
    /// Returns the value of `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        let mut at = self.buckets.get()?.get(self.position(name))?.get();
        while let Some(entry) = at {
            if *entry.name == *name {
                return Some(&entry.value);
            }
            at = entry.next.get();
        }
        None
    }

    /// Adds a value unless the name has one already, and returns the value of the name.
    pub(crate) fn insert(&self, name: &str, value: Arc<T>) -> Option<&T> {
        let buckets = self.buckets.get_or_init(|| (0..BUCKETS).map(|_| OnceLock::new()).collect());
        let mut slot = buckets.get(self.position(name))?;
        let mut entry = Some(Box::new(Entry { name: name.into(), value, next: OnceLock::new() }));
        loop {
            // Either this entry or that of another thread, after which the loop continues.
            let found = slot.get_or_init(|| entry.take().unwrap_or_else(|| unreachable!("an entry is placed once")));
            if *found.name == *name {
                return Some(&found.value);
            }
            slot = &found.next;
        }
    }

    fn position(&self, name: &str) -> usize {
        usize::try_from(self.hasher.hash_one(name) % BUCKETS as u64).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_insertion_wins() {
        let map: FrozenMap<str> = FrozenMap::default();
        assert_eq!(map.get("a"), None);
        assert_eq!(map.insert("a", "1".into()), Some("1"));
        assert_eq!(map.insert("a", "2".into()), Some("1"));
        for index in 0..2000 {
            map.insert(&format!("n{index}"), format!("{index}").into());
        }
        assert_eq!(map.get("n1999"), Some("1999"));
        assert_eq!(map.get("a"), Some("1"));
    }
}
