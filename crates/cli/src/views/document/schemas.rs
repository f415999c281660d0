//! The schemas that documents need.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use groma_address::{Mode, Name, ProviderAddress, Resource as ResourceAddress};
use groma_engine::Plan;
use groma_hcl::Body;
use groma_provider::Schema;
use serde_json::{Map, Value as Json};

use super::body::{attributes_json, body_json};
use crate::views::state::StoredObject;

/// The schemas that descriptions of blocks need.
#[derive(Default)]
pub struct Schemas {
    /// The schemas of the resource types that occur, by mode and type.
    types: HashMap<(Mode, Name), Arc<Schema>>,
    /// The schemas of provider configurations.
    providers: HashMap<ProviderAddress, Arc<Schema>>,
}

impl Schemas {
    /// Creates an empty collection of schemas.
    pub fn new() -> Self {
        Self::default()
    }

    /// Collects the schemas that a plan and its prior state contain.
    pub fn of(plan: &Plan, prior: &[StoredObject]) -> Self {
        let mut schemas = Self::new();
        let deferred = plan.deferred.iter().map(|deferred| &deferred.change);
        let planned = plan.changes.iter().chain(deferred).map(|change| (&change.address, &change.schema));
        for (address, schema) in planned.chain(prior.iter().map(|object| (&object.address, &object.schema))) {
            let resource = &address.resource;
            schemas.entry((resource.mode, resource.type_name.clone())).or_insert_with(|| Arc::clone(schema));
        }
        schemas
    }

    /// Returns the schema of a resource type, if it is known.
    pub(super) fn of_type(&self, address: &ResourceAddress) -> Option<&Schema> {
        self.types.get(&(address.mode, address.type_name.clone())).map(|schema| &**schema)
    }

    /// The place of a resource type's schema.
    pub fn entry(&mut self, of: (Mode, Name)) -> Entry<'_, (Mode, Name), Arc<Schema>> {
        self.types.entry(of)
    }

    /// The place of the schema of a provider's configuration.
    pub fn provider(&mut self, address: ProviderAddress) -> Entry<'_, ProviderAddress, Arc<Schema>> {
        self.providers.entry(address)
    }

    /// Returns the arguments of a provider body. Without a schema blocks are left out, because their nesting is unknown.
    pub(super) fn provider_expressions(&self, address: &ProviderAddress, body: &Body) -> Map<String, Json> {
        match self.providers.get(address) {
            Some(schema) => body_json(body, &schema.block),
            None => attributes_json(body),
        }
    }
}
