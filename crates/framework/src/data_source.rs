//! What a provider author writes for a data source.

use groma_provider::{Answer, ProviderDiagnostic, ProviderDiagnostics};
use groma_value::Value;

use crate::ResourceSchema;

/// A data source to be read.
#[derive(Clone, Debug)]
pub struct ReadDataRequest {
    /// The configuration, wholly known.
    pub config: Value,
}

/// What a data source found.
#[derive(Clone, Debug)]
pub struct ReadDataResponse {
    /// The configuration with the results filled in; null after an error.
    pub state: Value,
    /// What to tell the user.
    pub diagnostics: ProviderDiagnostics,
}

impl ReadDataResponse {
    /// The configuration with the results filled in.
    pub fn found(state: Value) -> Self {
        Self { state, diagnostics: ProviderDiagnostics::new() }
    }

    /// It failed.
    pub fn failed(diagnostic: ProviderDiagnostic) -> Self {
        Self { state: Value::NULL, diagnostics: diagnostic.into() }
    }
}

/// A data source.
pub trait DataSource: Send + Sync {
    /// The schema.
    fn schema(&self) -> &ResourceSchema;

    /// Checks a configuration as a whole, after the validators of the attributes.
    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        let _ = config;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Reads it.
    fn read(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse>;
}
