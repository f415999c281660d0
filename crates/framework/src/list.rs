//! The author's side of list resources.

use groma_provider::{Answer, ListRequest, ProviderDiagnostics};
use groma_value::Value;

use crate::ResourceSchema;

/// The search for objects of a resource type. The resource type of the same name must have an identity, which identifies the results.
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
