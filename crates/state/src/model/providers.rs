//! The provider configurations that the objects of a state have been managed by: one copy of each, which they share.

use std::collections::HashSet;
use std::sync::Arc;

use foldhash::fast::RandomState;
use groma_address::ProviderConfig;

#[derive(Debug, Default)]
pub(super) struct KnownProviders(HashSet<Arc<ProviderConfig>, RandomState>);

impl KnownProviders {
    /// The copy that everything in the state has of a configuration.
    pub(super) fn shared(&mut self, provider: &ProviderConfig) -> Arc<ProviderConfig> {
        if let Some(shared) = self.0.get(provider) {
            return Arc::clone(shared);
        }
        let shared = Arc::new(provider.clone());
        self.0.insert(Arc::clone(&shared));
        shared
    }

    /// Iterates over instances of provider blocks with `for_each`.
    pub(super) fn instances(&self) -> impl Iterator<Item = &ProviderConfig> {
        self.0.iter().map(|provider| &**provider).filter(|provider| !provider.key.is_none())
    }

    /// Takes in those of another state.
    pub(super) fn absorb(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}
