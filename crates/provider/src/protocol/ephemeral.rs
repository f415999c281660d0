//! Requests and responses about ephemeral resources.

use std::time::SystemTime;

use groma_value::Value;

use super::{ClientCapabilities, Deferred, Private};
use crate::{Name, ProviderDiagnostics};

/// An ephemeral resource to be opened.
#[derive(Clone, Debug)]
pub struct OpenEphemeralRequest {
    /// The ephemeral resource type.
    pub type_name: Name,
    /// The configuration, wholly known.
    pub config: Value,
    /// What the caller can handle.
    pub client_capabilities: ClientCapabilities,
}

/// An open ephemeral resource.
#[derive(Clone, Debug)]
pub struct OpenEphemeralResponse {
    /// The configuration with the results filled in.
    pub result: Value,
    /// When it must be renewed at the latest.
    pub renew_at: Option<SystemTime>,
    /// Bytes to be given back when it is renewed or closed.
    pub private: Private,
    /// That, and why, the provider cannot say yet.
    pub deferred: Option<Deferred>,
    /// Problems.
    pub diagnostics: ProviderDiagnostics,
}

/// An open ephemeral resource to be kept open.
#[derive(Clone, Debug)]
pub struct RenewEphemeralRequest {
    /// The ephemeral resource type.
    pub type_name: Name,
    /// The bytes of the response before.
    pub private: Private,
}

/// An ephemeral resource that goes on.
#[derive(Clone, Debug, Default)]
pub struct EphemeralResponse {
    /// When it must be renewed at the latest.
    pub renew_at: Option<SystemTime>,
    /// Bytes to be given back when it is renewed or closed.
    pub private: Private,
    /// Problems.
    pub diagnostics: ProviderDiagnostics,
}

/// An open ephemeral resource to be closed.
#[derive(Clone, Debug)]
pub struct CloseEphemeralRequest {
    /// The ephemeral resource type.
    pub type_name: Name,
    /// The bytes of the response before.
    pub private: Private,
}
