//! What a provider author writes for searches for the objects of a resource type.

use groma_provider::{Answer, ListRequest, ProviderDiagnostics};
use groma_value::Value;

use crate::ResourceSchema;

/// How the objects of a resource type are searched for. The resource type of the same name must have an identity, by which what was
/// found is told.
pub trait ListResource: Send + Sync {
    /// The schema of what is searched by: what `config` of a `list` block holds.
    fn schema(&self) -> &ResourceSchema;

    /// Checks what is searched by as a whole, after the validators of the attributes.
    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        let _ = config;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Searches: each object goes to the request's `found` as it is found, until that says that it is enough.
    fn list(&self, request: ListRequest) -> Answer<'_, ProviderDiagnostics>;
}
