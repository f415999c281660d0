//! The author's side of data sources.

use groma_provider::{Answer, Deferred, ProviderDiagnostic, ProviderDiagnostics};
use groma_value::Value;

use crate::{NotYet, ResourceSchema};

/// A data source to be read.
#[derive(Clone, Debug)]
pub struct ReadDataRequest {
    /// The configuration, wholly known.
    pub config: Value,
}

/// The result of reading a data source.
#[derive(Clone, Debug)]
pub struct ReadDataResponse {
    /// The configuration with the results filled in; null after an error.
    pub state: Value,
    /// That it cannot be read yet.
    pub not_yet: Option<NotYet>,
    /// Errors and warnings for the user.
    pub diagnostics: ProviderDiagnostics,
}

impl ReadDataResponse {
    /// The configuration with the results filled in.
    pub fn found(state: Value) -> Self {
        Self { state, not_yet: None, diagnostics: ProviderDiagnostics::new() }
    }

    /// It cannot be read yet: see [`NotYet`].
    pub fn not_yet(reason: Deferred, problem: impl Into<ProviderDiagnostic>) -> Self {
        Self { not_yet: Some(NotYet::new(reason, problem)), ..Self::found(Value::NULL) }
    }

    /// Creates the response for a failed read.
    pub fn failed(diagnostic: ProviderDiagnostic) -> Self {
        Self { diagnostics: diagnostic.into(), ..Self::found(Value::NULL) }
    }
}

/// The implementation of a data source.
pub trait DataSource: Send + Sync {
    /// Returns the schema of the data source.
    fn schema(&self) -> &ResourceSchema;

    /// Checks a configuration as a whole, after the validators of the attributes.
    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        let _ = config;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Reads the data source.
    fn read(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse>;
}
