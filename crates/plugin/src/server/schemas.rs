//! Calls for the provider's declarations: schemas, type names, function signatures.

use std::collections::HashMap;
use std::sync::Arc;

use groma_provider::{FunctionSignature, Name, ProviderDiagnostic, ProviderDiagnostics, Schema, SchemaLookup};

use super::adapter::{Adapter, StepResult};
use crate::proto::{v5, v6};
use crate::wire::{self, WireError};

impl Adapter {
    pub fn get_metadata(&self) -> v6::get_metadata::Response {
        use v6::get_metadata::{
            ActionMetadata, DataSourceMetadata, EphemeralResourceMetadata, FunctionMetadata, ListResourceMetadata,
            ResourceMetadata, Response, StateStoreMetadata,
        };
        let names = self.provider().type_names();
        let mut response = Response {
            data_sources: names.data_sources.iter().map(|name| DataSourceMetadata { type_name: text(name) }).collect(),
            resources: names.resources.iter().map(|name| ResourceMetadata { type_name: text(name) }).collect(),
            functions: names.functions.iter().map(|name| FunctionMetadata { name: text(name) }).collect(),
            list_resources: names.lists.iter().map(|name| ListResourceMetadata { type_name: text(name) }).collect(),
            state_stores: names.state_stores.iter().map(|name| StateStoreMetadata { type_name: text(name) }).collect(),
            actions: names.actions.iter().map(|name| ActionMetadata { type_name: text(name) }).collect(),
            ephemeral_resources: names
                .ephemeral_resources
                .iter()
                .map(|name| EphemeralResourceMetadata { type_name: text(name) })
                .collect(),
            ..Response::default()
        };
        match self.own_schema() {
            Ok(own) => response.server_capabilities = Some(wire::server_capabilities_message(own.capabilities)),
            Err(problems) => response.diagnostics = wire::diagnostics_message(&problems),
        }
        response
    }

    pub fn get_schema_v6(&self) -> v6::get_provider_schema::Response {
        let all = match self.all_schemas(|schema| Ok(wire::schema_message(schema))) {
            Ok(all) => all,
            Err(problems) => {
                return v6::get_provider_schema::Response {
                    diagnostics: wire::diagnostics_message(&problems),
                    ..Default::default()
                };
            }
        };
        v6::get_provider_schema::Response {
            provider: Some(all.provider),
            provider_meta: all.meta,
            resource_schemas: all.resources,
            data_source_schemas: all.data_sources,
            ephemeral_resource_schemas: all.ephemeral,
            list_resource_schemas: all.lists,
            action_schemas: actions(all.actions, |schema| v6::ActionSchema { schema: Some(schema) }),
            state_store_schemas: all.state_stores,
            server_capabilities: Some(all.capabilities),
            functions: self.functions(),
            ..Default::default()
        }
    }

    pub fn get_schema_v5(&self) -> v5::get_provider_schema::Response {
        let all = match self.all_schemas(wire::schema_message_v5) {
            Ok(all) => all,
            Err(problems) => {
                return v5::get_provider_schema::Response {
                    diagnostics: wire::diagnostics_message(&problems),
                    ..Default::default()
                };
            }
        };
        v5::get_provider_schema::Response {
            provider: Some(all.provider),
            provider_meta: all.meta,
            resource_schemas: all.resources,
            data_source_schemas: all.data_sources,
            ephemeral_resource_schemas: all.ephemeral,
            list_resource_schemas: all.lists,
            action_schemas: actions(all.actions, |schema| v5::ActionSchema { schema: Some(schema) }),
            server_capabilities: Some(all.capabilities),
            functions: self.functions(),
            ..Default::default()
        }
    }

    pub fn get_identity_schemas(&self) -> v6::get_resource_identity_schemas::Response {
        let mut response = v6::get_resource_identity_schemas::Response::default();
        for name in self.provider().type_names().resources {
            match self.resource(&name) {
                Ok(schema) => {
                    if let Some(identity) = &schema.identity {
                        response.identity_schemas.insert(text(&name), wire::identity_schema_message(identity));
                    }
                }
                // The other types keep their identities.
                Err(problems) => response.diagnostics.extend(wire::diagnostics_message(&problems)),
            }
        }
        response
    }

    /// Returns all functions, including those that exist only after configuration.
    pub async fn get_functions(&self) -> v6::get_functions::Response {
        let mut response = v6::get_functions::Response { functions: self.functions(), diagnostics: Vec::new() };
        match self.provider().configured_functions().await {
            Ok(configured) => {
                let messages =
                    configured.iter().map(|(name, signature)| (text(name), wire::function_message(signature)));
                response.functions.extend(messages);
            }
            Err(problems) => response.diagnostics = wire::diagnostics_message(&problems),
        }
        response
    }

    /// Returns the signature of a declared function or of one that exists only after configuration.
    pub async fn function(&self, name: &str) -> Option<Arc<FunctionSignature>> {
        if let Some(known) = self.provider().function(name) {
            return Some(known);
        }
        // A provider that cannot list its functions reports the reason in `GetFunctions`.
        self.provider().configured_functions().await.ok()?.remove(name)
    }

    pub fn functions(&self) -> HashMap<String, v6::Function> {
        let names = self.provider().type_names().functions;
        let signature = |name: &Name| Some((text(name), wire::function_message(&*self.provider().function(name)?)));
        names.iter().filter_map(signature).collect()
    }

    fn all_schemas<M>(&self, message: impl Fn(&Schema) -> Result<M, WireError>) -> StepResult<AllSchemas<M>> {
        let own = self.own_schema()?;
        let names = self.provider().type_names();
        let of = |what: &str, schema: &Schema| {
            message(schema).map_err(|error| -> ProviderDiagnostics {
                let detail = format!("Cannot encode the schema of {what}: {error}.");
                ProviderDiagnostic::error("Schema not supported by this protocol version", detail).into()
            })
        };
        let each = |names: &[Name], lookup: &dyn Fn(&str) -> SchemaLookup| -> StepResult<HashMap<String, M>> {
            let mut found = HashMap::with_capacity(names.len());
            for name in names {
                // A name without a schema is left out, as if it had not been listed.
                if let Some(schema) = lookup(name)? {
                    let schema: Arc<Schema> = schema;
                    found.insert(text(name), of(name, &schema)?);
                }
            }
            Ok(found)
        };
        Ok(AllSchemas {
            provider: of("the provider", &own.config)?,
            meta: own.meta.as_ref().map(|schema| of("provider_meta", schema)).transpose()?,
            resources: each(&names.resources, &|name| self.provider().resource_schema(name))?,
            data_sources: each(&names.data_sources, &|name| self.provider().data_schema(name))?,
            ephemeral: each(&names.ephemeral_resources, &|name| self.provider().ephemeral_schema(name))?,
            lists: each(&names.lists, &|name| self.provider().list_schema(name))?,
            actions: each(&names.actions, &|name| self.provider().action_schema(name))?,
            state_stores: each(&names.state_stores, &|name| self.provider().state_store_schema(name))?,
            capabilities: wire::server_capabilities_message(own.capabilities),
        })
    }
}

/// All schemas, as messages of one protocol version.
struct AllSchemas<M> {
    provider: M,
    meta: Option<M>,
    resources: HashMap<String, M>,
    data_sources: HashMap<String, M>,
    ephemeral: HashMap<String, M>,
    lists: HashMap<String, M>,
    actions: HashMap<String, M>,
    state_stores: HashMap<String, M>,
    capabilities: v6::ServerCapabilities,
}

/// Wraps action schemas in their protocol message.
fn actions<M, A>(schemas: HashMap<String, M>, around: impl Fn(M) -> A) -> HashMap<String, A> {
    schemas.into_iter().map(|(name, schema)| (name, around(schema))).collect()
}

fn text(name: &Name) -> String {
    name.to_string()
}
