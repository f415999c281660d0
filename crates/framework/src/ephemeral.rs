//! The author's side of ephemeral resources.

use std::time::SystemTime;

use groma_provider::{Answer, Deferred, ProviderDiagnostic, ProviderDiagnostics};
use groma_value::Value;

use crate::{NotYet, PrivateData, ResourceSchema};

/// An open ephemeral resource.
#[derive(Clone, Debug)]
pub struct OpenResponse {
    /// The configuration with the results filled in; null after an error.
    pub result: Value,
    /// The deadline for renewal; `None` if no renewal is needed.
    pub renew_at: Option<SystemTime>,
    /// The data for renew and close.
    pub private: PrivateData,
    /// That it cannot be opened yet.
    pub not_yet: Option<NotYet>,
    /// Errors and warnings for the user.
    pub diagnostics: ProviderDiagnostics,
}

impl OpenResponse {
    /// The configuration with the results filled in.
    pub fn opened(result: Value, private: PrivateData) -> Self {
        Self { result, renew_at: None, private, not_yet: None, diagnostics: ProviderDiagnostics::new() }
    }

    /// It cannot be opened yet: see [`NotYet`].
    pub fn not_yet(reason: Deferred, problem: impl Into<ProviderDiagnostic>) -> Self {
        Self { not_yet: Some(NotYet::new(reason, problem)), ..Self::opened(Value::NULL, PrivateData::new()) }
    }

    /// It failed, and nothing is open.
    pub fn failed(diagnostic: ProviderDiagnostic) -> Self {
        Self { diagnostics: diagnostic.into(), ..Self::opened(Value::NULL, PrivateData::new()) }
    }
}

/// An ephemeral resource that goes on.
#[derive(Clone, Debug)]
pub struct RenewResponse {
    /// The deadline for the next renewal.
    pub renew_at: Option<SystemTime>,
    /// The data for the next renew and for close.
    pub private: PrivateData,
    /// Errors and warnings for the user.
    pub diagnostics: ProviderDiagnostics,
}

/// An ephemeral resource type: something that is open during a run and leaves no trace.
pub trait EphemeralResource: Send + Sync {
    /// Returns the schema of the ephemeral resource.
    fn schema(&self) -> &ResourceSchema;

    /// Checks a configuration as a whole, after the validators of the attributes.
    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        let _ = config;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Opens one for a wholly known configuration. What is configured must come back unchanged.
    fn open(&self, config: Value) -> Answer<'_, OpenResponse>;

    /// Keeps one open that said when it must be renewed.
    fn renew(&self, private: PrivateData) -> Answer<'_, RenewResponse> {
        Answer::ready(RenewResponse { renew_at: None, private, diagnostics: ProviderDiagnostics::new() })
    }

    /// Closes an open ephemeral resource.
    fn close(&self, private: PrivateData) -> Answer<'_, ProviderDiagnostics> {
        let _ = private;
        Answer::ready(ProviderDiagnostics::new())
    }
}
