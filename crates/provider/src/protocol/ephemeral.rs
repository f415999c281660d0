//! Requests and responses for the lifecycle of ephemeral resources.

use std::time::SystemTime;

use groma_value::Value;

use super::{ClientCapabilities, Deferred, Private};
use crate::{Name, ProviderDiagnostics};

/// A request to open an ephemeral resource.
#[derive(Clone, Debug)]
pub struct OpenEphemeralRequest {
    /// The ephemeral resource type.
    pub type_name: Name,
    /// The wholly known configuration.
    pub config: Value,
    /// The optional protocol features that the caller supports.
    pub client_capabilities: ClientCapabilities,
}

/// The response to the opening of an ephemeral resource.
#[derive(Clone, Debug)]
pub struct OpenEphemeralResponse {
    /// The configuration completed with the results.
    pub result: Value,
    /// The time by which the resource must be renewed.
    pub renew_at: Option<SystemTime>,
    /// Private data for renewing and closing.
    pub private: Private,
    /// The reason of the deferral, if the provider deferred the opening.
    pub deferred: Option<Deferred>,
    /// The errors and warnings of the call.
    pub diagnostics: ProviderDiagnostics,
}

/// A request to renew an open ephemeral resource.
#[derive(Clone, Debug)]
pub struct RenewEphemeralRequest {
    /// The ephemeral resource type.
    pub type_name: Name,
    /// The private data of the previous response.
    pub private: Private,
}

/// The response to a renewal.
#[derive(Clone, Debug, Default)]
pub struct EphemeralResponse {
    /// The time by which the resource must be renewed again.
    pub renew_at: Option<SystemTime>,
    /// Private data for the next renewal and closing.
    pub private: Private,
    /// The errors and warnings of the call.
    pub diagnostics: ProviderDiagnostics,
}

/// A request to close an ephemeral resource.
#[derive(Clone, Debug)]
pub struct CloseEphemeralRequest {
    /// The ephemeral resource type.
    pub type_name: Name,
    /// The private data of the previous response.
    pub private: Private,
}
