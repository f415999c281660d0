//! Deferred changes, and everything that depends on them.

use std::collections::{HashMap, HashSet};

use groma_address::{ConfigResource, ProviderConfig, ResourceInstance};

use crate::plan::DeferralReason;

/// Provider configurations through which nothing can be done in this run. All instances of a block wait together.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    reasons: HashMap<ProviderConfig, DeferralReason>,
    unready: HashSet<ProviderConfig>,
}

impl Waiting {
    /// Notes one that can be asked, as far as that goes.
    pub(super) fn note(&mut self, provider: &ProviderConfig, reason: DeferralReason) {
        self.reasons.entry(provider.clone()).or_insert(reason);
    }

    /// Notes one that does not even take its configuration.
    pub(super) fn unready(&mut self, provider: &ProviderConfig) {
        self.reasons.insert(provider.block(), DeferralReason::ProviderConfigUnknown);
        self.unready.insert(provider.block());
    }

    /// Returns the reason why a provider configuration cannot be used in this run.
    pub(super) fn reason(&self, provider: &ProviderConfig) -> Option<DeferralReason> {
        if self.reasons.is_empty() { None } else { self.reasons.get(&provider.block()).copied() }
    }

    /// Whether it cannot even be asked.
    pub(super) fn is_unready(&self, provider: &ProviderConfig) -> bool {
        !self.unready.is_empty() && self.unready.contains(&provider.block())
    }
}

/// Imports of which only a later run will know what they mean.
#[derive(Debug, Default)]
pub(super) struct LaterImports {
    /// Import targets whose identifier is unknown.
    instances: HashSet<ResourceInstance>,
    /// Into which instances is not known either.
    resources: HashSet<ConfigResource>,
}

impl LaterImports {
    pub(super) fn note_instance(&mut self, address: ResourceInstance) {
        self.instances.insert(address);
    }

    pub(super) fn note_resource(&mut self, resource: ConfigResource) {
        self.resources.insert(resource);
    }

    /// Whether an instance is to take over an object that is not known yet.
    pub(super) fn concerns(&self, address: &ResourceInstance) -> bool {
        self.instances.contains(address)
            || (!self.resources.is_empty() && self.resources.contains(&address.config_resource()))
    }
}
