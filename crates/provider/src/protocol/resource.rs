//! Requests and responses for managed resources and data sources.

use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_value::{Path, Value};

use super::{ClientCapabilities, Deferred, Private, RawState};
use crate::{Name, ProviderDiagnostics};

/// A request to validate the configuration of a managed resource, a data source or an ephemeral resource (LC-03).
#[derive(Clone, Debug)]
pub struct ValidateRequest {
    /// The resource type of the object.
    pub type_name: Name,
    /// The configuration, which may contain unknown values.
    pub config: Value,
    /// The optional protocol features that the caller supports.
    pub client_capabilities: ClientCapabilities,
}

/// A request to upgrade a stored object to the current schema (LC-19).
#[derive(Clone, Debug)]
pub struct UpgradeRequest {
    /// The resource type of the object.
    pub type_name: Name,
    /// The schema version that the object was stored with.
    pub version: u64,
    /// The object in its stored form.
    pub raw_state: RawState,
}

/// The response to an upgrade of a stored object.
#[derive(Clone, Debug)]
pub struct UpgradeResponse {
    /// The object in the form of the current schema.
    pub upgraded_state: Value,
    /// The errors and warnings of the call.
    pub diagnostics: ProviderDiagnostics,
}

/// A request to upgrade a stored identity to the current identity schema (LC-31).
#[derive(Clone, Debug)]
pub struct UpgradeIdentityRequest {
    /// The resource type of the object.
    pub type_name: Name,
    /// The identity schema version that the identity was stored with.
    pub version: u64,
    /// The stored identity as JSON.
    pub raw_identity: Arc<str>,
}

/// The response to an upgrade of a stored identity.
#[derive(Clone, Debug)]
pub struct UpgradeIdentityResponse {
    /// The identity in the form of the current schema.
    pub upgraded_identity: Value,
    /// The errors and warnings of the call.
    pub diagnostics: ProviderDiagnostics,
}

/// A request to read a real object (LC-21).
#[derive(Clone, Debug, Default)]
pub struct ReadRequest {
    /// The resource type of the object.
    pub type_name: Name,
    /// The object in the state.
    pub current_state: Value,
    /// The provider's private data stored with the object.
    pub private: Private,
    /// The module's `provider_meta` values; null without a `provider_meta` block.
    pub meta: Value,
    /// The optional protocol features that the caller supports.
    pub client_capabilities: ClientCapabilities,
    /// The identity stored with the object.
    pub current_identity: Option<Value>,
}

/// The response to a read.
#[derive(Clone, Debug)]
pub struct ReadResponse {
    /// The object; null if it no longer exists.
    pub new_state: Value,
    /// The private data to record.
    pub private: Private,
    /// The reason of the deferral, if the provider deferred the read.
    pub deferred: Option<Deferred>,
    /// The identity to record.
    pub new_identity: Option<Value>,
    /// The errors and warnings of the call.
    pub diagnostics: ProviderDiagnostics,
}

impl ReadResponse {
    /// Creates the response for an object that has not changed.
    pub fn unchanged(request: ReadRequest) -> Self {
        Self {
            new_state: request.current_state,
            private: request.private,
            deferred: None,
            new_identity: request.current_identity,
            diagnostics: ProviderDiagnostics::new(),
        }
    }
}

/// A request to plan a change (LC-06).
#[derive(Clone, Debug, Default)]
pub struct PlanRequest {
    /// The resource type of the object.
    pub type_name: Name,
    /// The object in the refreshed state; null for a creation.
    pub prior_state: Value,
    /// The configuration merged over the prior state (LC-04); null for a deletion.
    pub proposed_new_state: Value,
    /// The configuration; null for a deletion.
    pub config: Value,
    /// The provider's private data stored with the object.
    pub prior_private: Private,
    /// The module's `provider_meta` values; null without a `provider_meta` block.
    pub meta: Value,
    /// The optional protocol features that the caller supports.
    pub client_capabilities: ClientCapabilities,
    /// The identity stored with the object.
    pub prior_identity: Option<Value>,
}

/// The response to a plan request.
#[derive(Clone, Debug)]
pub struct PlanResponse {
    /// The object after the change, unknown where only the apply will know; null for a deletion.
    pub planned_state: Value,
    /// The attributes whose change forces a replacement.
    pub requires_replace: Vec<Path>,
    /// Private data for the apply request.
    pub planned_private: Private,
    /// Whether the provider uses the legacy type system and is exempt from some checks (LC-17).
    pub legacy_type_system: bool,
    /// The reason of the deferral, if the provider deferred the change.
    pub deferred: Option<Deferred>,
    /// The identity after the change.
    pub planned_identity: Option<Value>,
    /// The errors and warnings of the call.
    pub diagnostics: ProviderDiagnostics,
}

impl PlanResponse {
    /// Creates a plan that leads to `planned_state`, without replacement or deferral.
    pub fn new(planned_state: Value, private: Private) -> Self {
        Self {
            planned_state,
            requires_replace: Vec::new(),
            planned_private: private,
            legacy_type_system: false,
            deferred: None,
            planned_identity: None,
            diagnostics: ProviderDiagnostics::new(),
        }
    }
}

/// A request to apply a planned change (LC-14).
#[derive(Clone, Debug, Default)]
pub struct ApplyRequest {
    /// The resource type of the object.
    pub type_name: Name,
    /// The object before the change; null for a creation.
    pub prior_state: Value,
    /// The final planned state; null for a deletion.
    pub planned_state: Value,
    /// The wholly known configuration; null for a deletion.
    pub config: Value,
    /// The private data of the plan response.
    pub planned_private: Private,
    /// The module's `provider_meta` values; null without a `provider_meta` block.
    pub meta: Value,
    /// The identity of the plan response.
    pub planned_identity: Option<Value>,
}

/// The response to an apply request.
#[derive(Clone, Debug)]
pub struct ApplyResponse {
    /// The object after the change; null if it was deleted or not created. `None` if the call was not answered, which
    /// comes with an error: the prior object remains recorded.
    pub new_state: Option<Value>,
    /// The private data to record.
    pub private: Private,
    /// Whether the provider uses the legacy type system and is exempt from some checks (LC-17).
    pub legacy_type_system: bool,
    /// The identity to record.
    pub new_identity: Option<Value>,
    /// The errors and warnings of the call.
    pub diagnostics: ProviderDiagnostics,
}

impl ApplyResponse {
    /// Creates a successful response without an identity.
    pub fn new(new_state: Value, private: Private) -> Self {
        Self {
            new_state: Some(new_state),
            private,
            legacy_type_system: false,
            new_identity: None,
            diagnostics: ProviderDiagnostics::new(),
        }
    }
}

/// The identification of an object to import.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportTarget {
    /// An import ID, in a format that the provider defines for the resource type.
    Id(String),
    /// A resource identity.
    Identity(Value),
}

/// A request to import an existing object (LC-23).
#[derive(Clone, Debug)]
pub struct ImportRequest {
    /// The resource type of the object.
    pub type_name: Name,
    /// The ID or identity of the object.
    pub target: ImportTarget,
    /// The configuration of the resource, where there is one that can be evaluated; parts of it may be unknown. A provider may take values
    /// from it that the service never returns. Plugins do not get it, because their protocol has no field for it.
    pub config: Option<Value>,
    /// The optional protocol features that the caller supports.
    pub client_capabilities: ClientCapabilities,
}

/// One object in the response to an import.
#[derive(Clone, Debug)]
pub struct ImportedResource {
    /// The resource type, which providers may choose.
    pub type_name: Name,
    /// The attributes that a read needs; the others are null.
    pub state: Value,
    /// The private data to record.
    pub private: Private,
    /// The identity to record.
    pub identity: Option<Value>,
}

/// The response to an import request.
#[derive(Clone, Debug, Default)]
pub struct ImportResponse {
    /// The imported objects. The protocol allows several, but only a single one can be imported.
    pub imported: Vec<ImportedResource>,
    /// The reason of the deferral, if the provider deferred the import.
    pub deferred: Option<Deferred>,
    /// The errors and warnings of the call.
    pub diagnostics: ProviderDiagnostics,
}

/// A request to convert an object of another resource type, possibly of another provider.
#[derive(Clone, Debug)]
pub struct MoveRequest {
    /// The source address of the provider that the object belongs to.
    pub source_provider_address: String,
    /// The resource type that the object has now.
    pub source_type_name: Name,
    /// The schema version that the object was stored with.
    pub source_schema_version: u64,
    /// The object in its stored form.
    pub source_state: RawState,
    /// The private data stored with the object by its provider.
    pub source_private: Private,
    /// The stored identity as JSON.
    pub source_identity: Option<Arc<str>>,
    /// The resource type to convert the object to.
    pub target_type_name: Name,
}

/// The response to a move between resource types.
#[derive(Clone, Debug)]
pub struct MoveResponse {
    /// The converted object.
    pub target_state: Value,
    /// The private data to record.
    pub target_private: Private,
    /// The identity to record.
    pub target_identity: Option<Value>,
    /// The errors and warnings of the call.
    pub diagnostics: ProviderDiagnostics,
}

/// A request to read a data source.
#[derive(Clone, Debug)]
pub struct ReadDataRequest {
    /// The data source type.
    pub type_name: Name,
    /// The address of the instance, if known. The plugin protocol does not transmit it.
    pub address: Option<ResourceInstance>,
    /// The wholly known configuration.
    pub config: Value,
    /// The module's `provider_meta` values; null without a `provider_meta` block.
    pub meta: Value,
    /// The optional protocol features that the caller supports.
    pub client_capabilities: ClientCapabilities,
}

/// The response to a data source read.
#[derive(Clone, Debug)]
pub struct ReadDataResponse {
    /// The configuration completed with the results.
    pub state: Value,
    /// The reason of the deferral, if the provider deferred the read.
    pub deferred: Option<Deferred>,
    /// The errors and warnings of the call.
    pub diagnostics: ProviderDiagnostics,
}
