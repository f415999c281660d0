//! Requests and responses of the provider trait: the plugin protocol's messages (plugin-protocol, appendix A) in our
//! types.
//!
//! Objects are [`Value`]s of the implied type of the schema, without marks.

mod action;
mod ephemeral;
mod function;
mod list;
mod raw;
mod resource;
mod state_store;

use std::sync::Arc;

pub use action::{ActionProgress, InvokeActionRequest, PlanActionRequest, PlanActionResponse};
pub use ephemeral::{
    CloseEphemeralRequest, EphemeralResponse, OpenEphemeralRequest, OpenEphemeralResponse, RenewEphemeralRequest,
};
pub use function::{CallFunctionRequest, FunctionError, FunctionSignature, Functions, Parameter};
pub use list::{GenerateConfigRequest, GenerateConfigResponse, ListDetail, ListRequest, ListSink, ListWanted, Listed};
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

/// Bytes that a provider keeps with an object and nobody else reads.
pub type Private = Arc<[u8]>;

/// What the provider itself declares, apart from its types.
#[derive(Clone, Debug, Default)]
pub struct ProviderSchema {
    /// What its configuration block holds.
    pub config: Arc<Schema>,
    /// What a `provider_meta` block for it holds, if it accepts one.
    pub meta: Option<Arc<Schema>>,
    /// What it can do beyond the base of the protocol.
    pub capabilities: ServerCapabilities,
}

/// The types and functions that a provider has, by kind; each list is sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeNames {
    /// Managed resource types.
    pub resources: Vec<Name>,
    /// Data sources.
    pub data_sources: Vec<Name>,
    /// Ephemeral resource types.
    pub ephemeral_resources: Vec<Name>,
    /// Functions.
    pub functions: Vec<Name>,
    /// Resource types whose objects can be listed.
    pub lists: Vec<Name>,
    /// Actions.
    pub actions: Vec<Name>,
    /// Stores of states.
    pub state_stores: Vec<Name>,
}

/// What a provider can do beyond the base of the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerCapabilities {
    /// It wants to be asked for plans that delete.
    pub plan_destroy: bool,
    /// It works without having been asked for its schema.
    pub get_provider_schema_optional: bool,
    /// It can take over objects of other resource types.
    pub move_resource_state: bool,
    /// It can write a configuration from an object.
    pub generate_resource_config: bool,
    /// A creation can be asked for again with the same planned private data and makes no second object. The plugin
    /// protocol has no word for this: only providers in process can say it.
    pub repeatable_create: bool,
    /// Its objects are nowhere but in the state, and its answers depend on the requests alone: what a call that was never
    /// answered has done is nothing, and a plan need not be asked for twice. The plugin protocol has no word for this
    /// either.
    pub is_pure: bool,
}

/// What the caller can handle in responses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCapabilities {
    /// The provider may answer that it cannot say yet.
    pub deferral_allowed: bool,
    /// The configuration may hold values for write-only attributes.
    pub write_only_attributes_allowed: bool,
}

/// Why a provider cannot say yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deferred {
    /// It did not say why.
    Unknown,
    /// The configuration of the resource holds unknown values that it needs.
    ResourceConfigUnknown,
    /// Its own configuration holds unknown values that it needs.
    ProviderConfigUnknown,
    /// Something that the object needs does not exist yet.
    AbsentPrerequisite,
}

/// The provider's configuration, for checking.
#[derive(Clone, Debug)]
pub struct ValidateProviderRequest {
    /// The configuration; may hold unknown values.
    pub config: Value,
}

/// The version of Terraform whose language, formats and protocol this is.
pub const TERRAFORM_VERSION: &str = "1.15.5";

/// The provider's configuration, for use.
#[derive(Clone, Debug)]
pub struct ConfigureRequest {
    /// The version of Terraform whose behaviour the caller has.
    pub terraform_version: String,
    /// The configuration; may hold unknown values while planning.
    pub config: Value,
    /// What the caller can handle.
    pub client_capabilities: ClientCapabilities,
}
