//! Requests and responses about managed resources and data sources.

use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_value::{Path, Value};

use super::{ClientCapabilities, Deferred, Private, RawState};
use crate::{Name, ProviderDiagnostics};

/// A configuration, for checking (LC-03): of a managed resource, a data source or an ephemeral resource.
#[derive(Clone, Debug)]
pub struct ValidateRequest {
    /// The resource type.
    pub type_name: Name,
    /// The configuration; may hold unknown values.
    pub config: Value,
    /// What the caller can handle.
    pub client_capabilities: ClientCapabilities,
}

/// A stored object, to be brought to the shape of the current schema (LC-19).
#[derive(Clone, Debug)]
pub struct UpgradeRequest {
    /// The resource type.
    pub type_name: Name,
    /// The schema version it was stored with.
    pub version: u64,
    /// The object as stored.
    pub raw_state: RawState,
}

/// The object in the shape of the current schema.
#[derive(Clone, Debug)]
pub struct UpgradeResponse {
    /// The upgraded object.
    pub upgraded_state: Value,
    /// Problems.
    pub diagnostics: ProviderDiagnostics,
}

/// A stored identity, to be brought to the shape of the current schema (LC-31).
#[derive(Clone, Debug)]
pub struct UpgradeIdentityRequest {
    /// The resource type.
    pub type_name: Name,
    /// The identity schema version it was stored with.
    pub version: u64,
    /// The identity as stored: JSON.
    pub raw_identity: Arc<str>,
}

/// The identity in the shape of the current schema.
#[derive(Clone, Debug)]
pub struct UpgradeIdentityResponse {
    /// The upgraded identity.
    pub upgraded_identity: Value,
    /// Problems.
    pub diagnostics: ProviderDiagnostics,
}

/// An object whose present state in the world is wanted (LC-21).
#[derive(Clone, Debug, Default)]
pub struct ReadRequest {
    /// The resource type.
    pub type_name: Name,
    /// The object as last known.
    pub current_state: Value,
    /// What the provider keeps with it.
    pub private: Private,
    /// The module's `provider_meta` values; null when there are none.
    pub meta: Value,
    /// What the caller can handle.
    pub client_capabilities: ClientCapabilities,
    /// Its identity as last known.
    pub current_identity: Option<Value>,
}

/// The present state of an object.
#[derive(Clone, Debug)]
pub struct ReadResponse {
    /// The object; null when it is gone.
    pub new_state: Value,
    /// What the provider keeps with it from now on.
    pub private: Private,
    /// That, and why, the provider cannot say yet.
    pub deferred: Option<Deferred>,
    /// Its identity.
    pub new_identity: Option<Value>,
    /// Problems.
    pub diagnostics: ProviderDiagnostics,
}

impl ReadResponse {
    /// The object is as the request has it.
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

/// A change whose result is wanted in advance (LC-06).
#[derive(Clone, Debug, Default)]
pub struct PlanRequest {
    /// The resource type.
    pub type_name: Name,
    /// The object now; null when there is none.
    pub prior_state: Value,
    /// The configuration merged over the prior state (LC-04); null when the object is to be deleted.
    pub proposed_new_state: Value,
    /// The configuration; null when the object is to be deleted.
    pub config: Value,
    /// What the provider keeps with the object.
    pub prior_private: Private,
    /// The module's `provider_meta` values; null when there are none.
    pub meta: Value,
    /// What the caller can handle.
    pub client_capabilities: ClientCapabilities,
    /// The object's identity as last known.
    pub prior_identity: Option<Value>,
}

/// What a change will lead to.
#[derive(Clone, Debug)]
pub struct PlanResponse {
    /// The object after the change, unknown where it cannot be known yet; null when it will be deleted.
    pub planned_state: Value,
    /// Attributes whose change needs a new object.
    pub requires_replace: Vec<Path>,
    /// Bytes to be given back with the apply request.
    pub planned_private: Private,
    /// That the provider was written for the older type system, and is exempt from some checks (LC-17).
    pub legacy_type_system: bool,
    /// That, and why, the provider cannot say yet.
    pub deferred: Option<Deferred>,
    /// The identity after the change.
    pub planned_identity: Option<Value>,
    /// Problems.
    pub diagnostics: ProviderDiagnostics,
}

impl PlanResponse {
    /// A plan for `planned_state` that keeps `private` and says nothing else.
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

/// A change to be made (LC-14).
#[derive(Clone, Debug, Default)]
pub struct ApplyRequest {
    /// The resource type.
    pub type_name: Name,
    /// The object now; null when it is to be created.
    pub prior_state: Value,
    /// The final planned state; null when the object is to be deleted.
    pub planned_state: Value,
    /// The configuration, wholly known; null when the object is to be deleted.
    pub config: Value,
    /// The bytes of the plan response.
    pub planned_private: Private,
    /// The module's `provider_meta` values; null when there are none.
    pub meta: Value,
    /// The identity of the plan response.
    pub planned_identity: Option<Value>,
}

/// What a change led to.
#[derive(Clone, Debug)]
pub struct ApplyResponse {
    /// The object now; null when it is gone or was never made. Nothing at all where
    /// no provider said anything, which comes with an error: the prior object stays.
    pub new_state: Option<Value>,
    /// What the provider keeps with it from now on.
    pub private: Private,
    /// That the provider was written for the older type system, and is exempt from some checks (LC-17).
    pub legacy_type_system: bool,
    /// Its identity.
    pub new_identity: Option<Value>,
    /// Problems.
    pub diagnostics: ProviderDiagnostics,
}

impl ApplyResponse {
    /// A result of `new_state` that keeps `private` and says nothing else.
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

/// What names the object to be imported.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportTarget {
    /// The user's identifier, in a form that the provider defines.
    Id(String),
    /// An identity.
    Identity(Value),
}

/// An existing object to be taken over (LC-23).
#[derive(Clone, Debug)]
pub struct ImportRequest {
    /// The resource type.
    pub type_name: Name,
    /// Which object.
    pub target: ImportTarget,
    /// What the caller can handle.
    pub client_capabilities: ClientCapabilities,
}

/// One object that an import found.
#[derive(Clone, Debug)]
pub struct ImportedResource {
    /// Its resource type.
    pub type_name: Name,
    /// As much of it as a read needs.
    pub state: Value,
    /// What the provider keeps with it.
    pub private: Private,
    /// Its identity.
    pub identity: Option<Value>,
}

/// What an import found.
#[derive(Clone, Debug, Default)]
pub struct ImportResponse {
    /// The objects; one, in all providers that mean well.
    pub imported: Vec<ImportedResource>,
    /// That, and why, the provider cannot say yet.
    pub deferred: Option<Deferred>,
    /// Problems.
    pub diagnostics: ProviderDiagnostics,
}

/// An object of another resource type, to become one of this type.
#[derive(Clone, Debug)]
pub struct MoveRequest {
    /// The provider that the object belongs to, as an address.
    pub source_provider_address: String,
    /// Its resource type there.
    pub source_type_name: Name,
    /// The schema version it was stored with.
    pub source_schema_version: u64,
    /// The object as stored.
    pub source_state: RawState,
    /// What its provider keeps with it.
    pub source_private: Private,
    /// Its identity as stored: JSON.
    pub source_identity: Option<Arc<str>>,
    /// The resource type it is to have.
    pub target_type_name: Name,
}

/// The object as one of the wanted type.
#[derive(Clone, Debug)]
pub struct MoveResponse {
    /// The object.
    pub target_state: Value,
    /// What the provider keeps with it.
    pub target_private: Private,
    /// Its identity.
    pub target_identity: Option<Value>,
    /// Problems.
    pub diagnostics: ProviderDiagnostics,
}

/// A data source to be read.
#[derive(Clone, Debug)]
pub struct ReadDataRequest {
    /// The data source.
    pub type_name: Name,
    /// Which instance of it, where that is known: the plugin protocol does not tell it.
    pub address: Option<ResourceInstance>,
    /// The configuration, wholly known.
    pub config: Value,
    /// The module's `provider_meta` values; null when there are none.
    pub meta: Value,
    /// What the caller can handle.
    pub client_capabilities: ClientCapabilities,
}

/// What a data source found.
#[derive(Clone, Debug)]
pub struct ReadDataResponse {
    /// The configuration with the results filled in.
    pub state: Value,
    /// That, and why, the provider cannot say yet.
    pub deferred: Option<Deferred>,
    /// Problems.
    pub diagnostics: ProviderDiagnostics,
}
