//! Requests and responses of the provider trait: the messages of the plugin protocol (plugin-protocol, appendix A) in
//! this crate's types.
//!
//! Objects are unmarked [`Value`]s of the schema's implied type.

mod action;
mod ephemeral;
mod function;
mod list;
mod raw;
mod resource;
mod state_store;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use action::{ActionProgress, InvokeActionRequest, PlanActionRequest, PlanActionResponse};
pub use ephemeral::{
    CloseEphemeralRequest, EphemeralResponse, OpenEphemeralRequest, OpenEphemeralResponse, RenewEphemeralRequest,
};
pub use function::{CallFunctionRequest, FunctionError, FunctionSignature, Functions, Parameter};
pub use list::{GenerateConfigRequest, GenerateConfigResponse, ListControl, ListDetail, ListRequest, ListSink, Listed};
pub use raw::RawState;
pub use resource::{
    ApplyRequest, ApplyResponse, ImportRequest, ImportResponse, ImportTarget, ImportedResource, MoveRequest,
    MoveResponse, PlanRequest, PlanResponse, ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse,
    UpgradeIdentityRequest, UpgradeIdentityResponse, UpgradeRequest, UpgradeResponse, ValidateRequest,
};
pub use state_store::{
    ConfigureStateStoreRequest, ConfigureStateStoreResponse, LockStateRequest, LockStateResponse, ReadStateResponse,
    STATE_CHUNK_SIZE, StateRequest, StatesResponse, UnlockStateRequest, WriteStateRequest,
};

use groma_value::Value;

use crate::{Name, Schema};

/// Opaque bytes that a provider stores with an object.
pub type Private = Arc<[u8]>;

/// The provider's own declarations, apart from its types.
#[derive(Clone, Debug, Default)]
pub struct ProviderSchema {
    /// The schema of the `provider` block.
    pub config: Arc<Schema>,
    /// The schema of `provider_meta` blocks, if the provider accepts any.
    pub meta: Option<Arc<Schema>>,
    /// The optional protocol features that the provider supports.
    pub capabilities: ServerCapabilities,
}

/// The names of a provider's types and functions by category; each list is sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeNames {
    /// Managed resource types, for `resource` blocks.
    pub resources: Vec<Name>,
    /// Data sources, for `data` blocks.
    pub data_sources: Vec<Name>,
    /// Ephemeral resource types, for `ephemeral` blocks.
    pub ephemeral_resources: Vec<Name>,
    /// Provider-defined functions, without namespace.
    pub functions: Vec<Name>,
    /// Resource types that support list queries.
    pub lists: Vec<Name>,
    /// Action types, for `action` blocks.
    pub actions: Vec<Name>,
    /// State store types.
    pub state_stores: Vec<Name>,
}

impl TypeNames {
    /// Returns every type name, sorted, with the categories that have it.
    pub fn categories(&self) -> BTreeMap<Name, Vec<TypeCategory>> {
        let lists = [
            (&self.resources, TypeCategory::Resource),
            (&self.data_sources, TypeCategory::DataSource),
            (&self.ephemeral_resources, TypeCategory::EphemeralResource),
            (&self.lists, TypeCategory::List),
            (&self.actions, TypeCategory::Action),
            (&self.state_stores, TypeCategory::StateStore),
        ];
        let mut categories: BTreeMap<Name, Vec<TypeCategory>> = BTreeMap::new();
        for (names, category) in lists {
            for name in names {
                categories.entry(name.clone()).or_default().push(category);
            }
        }
        categories
    }
}

/// A category of types that have schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeCategory {
    /// Managed resource types.
    Resource,
    /// Data sources.
    DataSource,
    /// Ephemeral resource types.
    EphemeralResource,
    /// Resource types that support list queries.
    List,
    /// Action types.
    Action,
    /// State store types.
    StateStore,
}

/// The optional features of a provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerCapabilities {
    /// The provider handles plan calls for deletions.
    pub plan_destroy: bool,
    /// The provider accepts calls before its schema was requested.
    pub get_provider_schema_optional: bool,
    /// The provider can convert objects of other resource types.
    pub move_resource_state: bool,
    /// The provider can generate the configuration of an object.
    pub generate_resource_config: bool,
    /// A creation may be repeated with the same planned private data without creating a second object. The plugin
    /// protocol has no such capability; only in-process providers declare it.
    pub repeatable_create: bool,
    /// The provider is pure: its objects exist only in the state, and its answers depend on the requests alone. An
    /// unanswered call thus had no effect, and a second plan call is unnecessary. The plugin protocol has no such
    /// capability.
    pub is_pure: bool,
}

/// The optional protocol features that the caller supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCapabilities {
    /// The provider may defer the operation.
    pub deferral_allowed: bool,
    /// The configuration may set write-only attributes.
    pub write_only_attributes_allowed: bool,
}

/// The reason why a provider deferred an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deferred {
    /// The provider gave no reason.
    Unknown,
    /// The resource configuration contains unknown values that the provider needs.
    ResourceConfigUnknown,
    /// The provider configuration contains unknown values that the provider needs.
    ProviderConfigUnknown,
    /// A prerequisite of the object does not exist yet.
    AbsentPrerequisite,
}

/// A request to validate the provider configuration.
#[derive(Clone, Debug)]
pub struct ValidateProviderRequest {
    /// The configuration, which may contain unknown values.
    pub config: Value,
}

/// The Terraform version whose language, formats and protocol Groma implements.
// Providers check this version against their minimum; it must not be Groma's own version.
pub const TERRAFORM_VERSION: &str = "1.15.5";

/// A request to configure the provider.
#[derive(Clone, Debug)]
pub struct ConfigureRequest {
    /// The Terraform version that the caller is compatible with; some providers log it or send it as a user agent.
    pub terraform_version: String,
    /// The configuration, which may contain unknown values in the plan phase.
    pub config: Value,
    /// The optional protocol features that the caller supports.
    pub client_capabilities: ClientCapabilities,
}
