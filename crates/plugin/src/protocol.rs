//! Protocol versions, the method names of each, and size limits.

use std::fmt;
use std::marker::PhantomData;

use crate::proto::v6::*;

/// A major version of the plugin protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// Version 5, which has no nested attributes.
    V5,
    /// Version 6, which adds nested attributes and state stores.
    V6,
}

impl Protocol {
    /// Returns the version with this number, if this crate supports it.
    pub fn from_number(number: u32) -> Option<Self> {
        match number {
            5 => Some(Self::V5),
            6 => Some(Self::V6),
            _ => None,
        }
    }

    /// Returns the number that the handshake uses.
    pub fn number(self) -> u32 {
        match self {
            Self::V5 => 5,
            Self::V6 => 6,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

/// The maximum size of a message in bytes. Schemas and states of large providers approach it.
pub const MESSAGE_LIMIT: usize = 256 << 20;

/// The HTTP/2 flow control window of a stream, in bytes. Large, since schema responses have many megabytes.
pub(crate) const STREAM_WINDOW: u32 = 8 << 20;
/// The HTTP/2 flow control window of a connection, in bytes.
pub(crate) const CONNECTION_WINDOW: u32 = 32 << 20;

/// A method of the provider service with request type `Q` and response type `R`.
pub(crate) struct Method<Q, R> {
    v5: &'static str,
    v6: &'static str,
    types: PhantomData<fn(Q) -> R>,
}

impl<Q, R> Clone for Method<Q, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q, R> Copy for Method<Q, R> {}

impl<Q, R> Method<Q, R> {
    /// Returns the gRPC path in a protocol version.
    pub fn path(self, protocol: Protocol) -> &'static str {
        match protocol {
            Protocol::V5 => self.v5,
            Protocol::V6 => self.v6,
        }
    }

    /// Returns the method with another response type that is identical on the wire.
    pub const fn with_response<S>(self) -> Method<Q, S> {
        Method { v5: self.v5, v6: self.v6, types: PhantomData }
    }

    /// Returns the method name in version 6, for messages.
    pub fn name(self) -> &'static str {
        self.v6.rsplit('/').next().unwrap_or(self.v6)
    }
}

/// Defines methods: `CONSTANT: request => response, "name in version 5", "name in version 6"`.
macro_rules! methods {
    ($($constant:ident: $request:ty => $response:ty, $v5:literal, $v6:literal;)*) => {
        $(pub(crate) const $constant: Method<$request, $response> = Method {
            v5: concat!("/tfplugin5.Provider/", $v5),
            v6: concat!("/tfplugin6.Provider/", $v6),
            types: PhantomData,
        };)*

        /// The method names in versions 5 and 6.
        const NAMES: &[(&str, &str)] = &[$(($v5, $v6)),*];
    };
}

methods! {
    SCHEMA: get_provider_schema::Request => get_provider_schema::Response, "GetSchema", "GetProviderSchema";
    IDENTITIES: get_resource_identity_schemas::Request => get_resource_identity_schemas::Response, "GetResourceIdentitySchemas", "GetResourceIdentitySchemas";
    FUNCTIONS: get_functions::Request => get_functions::Response, "GetFunctions", "GetFunctions";
    VALIDATE_PROVIDER: validate_provider_config::Request => validate_provider_config::Response, "PrepareProviderConfig", "ValidateProviderConfig";
    CONFIGURE: configure_provider::Request => configure_provider::Response, "Configure", "ConfigureProvider";
    VALIDATE_RESOURCE: validate_resource_config::Request => validate_resource_config::Response, "ValidateResourceTypeConfig", "ValidateResourceConfig";
    VALIDATE_DATA: validate_data_resource_config::Request => validate_data_resource_config::Response, "ValidateDataSourceConfig", "ValidateDataResourceConfig";
    VALIDATE_EPHEMERAL: validate_ephemeral_resource_config::Request => validate_ephemeral_resource_config::Response, "ValidateEphemeralResourceConfig", "ValidateEphemeralResourceConfig";
    UPGRADE: upgrade_resource_state::Request => upgrade_resource_state::Response, "UpgradeResourceState", "UpgradeResourceState";
    UPGRADE_IDENTITY: upgrade_resource_identity::Request => upgrade_resource_identity::Response, "UpgradeResourceIdentity", "UpgradeResourceIdentity";
    READ: read_resource::Request => read_resource::Response, "ReadResource", "ReadResource";
    PLAN: plan_resource_change::Request => plan_resource_change::Response, "PlanResourceChange", "PlanResourceChange";
    APPLY: apply_resource_change::Request => apply_resource_change::Response, "ApplyResourceChange", "ApplyResourceChange";
    IMPORT: import_resource_state::Request => import_resource_state::Response, "ImportResourceState", "ImportResourceState";
    MOVE: move_resource_state::Request => move_resource_state::Response, "MoveResourceState", "MoveResourceState";
    READ_DATA: read_data_source::Request => read_data_source::Response, "ReadDataSource", "ReadDataSource";
    OPEN_EPHEMERAL: open_ephemeral_resource::Request => open_ephemeral_resource::Response, "OpenEphemeralResource", "OpenEphemeralResource";
    RENEW_EPHEMERAL: renew_ephemeral_resource::Request => renew_ephemeral_resource::Response, "RenewEphemeralResource", "RenewEphemeralResource";
    CLOSE_EPHEMERAL: close_ephemeral_resource::Request => close_ephemeral_resource::Response, "CloseEphemeralResource", "CloseEphemeralResource";
    CALL_FUNCTION: call_function::Request => call_function::Response, "CallFunction", "CallFunction";
    VALIDATE_LIST: validate_list_resource_config::Request => validate_list_resource_config::Response, "ValidateListResourceConfig", "ValidateListResourceConfig";
    LIST: list_resource::Request => list_resource::Event, "ListResource", "ListResource";
    GENERATE_CONFIG: generate_resource_config::Request => generate_resource_config::Response, "GenerateResourceConfig", "GenerateResourceConfig";
    VALIDATE_ACTION: validate_action_config::Request => validate_action_config::Response, "ValidateActionConfig", "ValidateActionConfig";
    PLAN_ACTION: plan_action::Request => plan_action::Response, "PlanAction", "PlanAction";
    INVOKE_ACTION: invoke_action::Request => invoke_action::Event, "InvokeAction", "InvokeAction";
    VALIDATE_STORE: validate_state_store_config::Request => validate_state_store_config::Response, "ValidateStateStoreConfig", "ValidateStateStoreConfig";
    CONFIGURE_STORE: configure_state_store::Request => configure_state_store::Response, "ConfigureStateStore", "ConfigureStateStore";
    READ_STATE: read_state_bytes::Request => read_state_bytes::ResponseChunk, "ReadStateBytes", "ReadStateBytes";
    WRITE_STATE: write_state_bytes::RequestChunk => write_state_bytes::Response, "WriteStateBytes", "WriteStateBytes";
    LOCK_STATE: lock_state::Request => lock_state::Response, "LockState", "LockState";
    UNLOCK_STATE: unlock_state::Request => unlock_state::Response, "UnlockState", "UnlockState";
    STATES: get_states::Request => get_states::Response, "GetStates", "GetStates";
    DELETE_STATE: delete_state::Request => delete_state::Response, "DeleteState", "DeleteState";
    STOP: stop_provider::Request => stop_provider::Response, "Stop", "StopProvider";
}

/// Returns the version 6 name of the method at `path`, as requested by a host of version `protocol`.
pub(crate) fn name_of(path: &str, protocol: Protocol) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match protocol {
        Protocol::V6 => name,
        // Unknown names pass through unchanged: the server then reports them as unimplemented.
        Protocol::V5 => NAMES.iter().find(|(v5, _)| *v5 == name).map_or(name, |(_, v6)| v6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_resolve_by_either_version_name() {
        assert_eq!(name_of(CONFIGURE.path(Protocol::V5), Protocol::V5), "ConfigureProvider");
        assert_eq!(name_of(CONFIGURE.path(Protocol::V6), Protocol::V6), "ConfigureProvider");
        assert_eq!(name_of("/tfplugin5.Provider/GetMetadata", Protocol::V5), "GetMetadata");
    }
}
