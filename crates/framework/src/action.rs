//! The author's side of actions and list resources.

use groma_provider::{
    Answer, InvokeActionRequest, ListRequest, PlanActionRequest, PlanActionResponse, ProviderDiagnostics,
};
use groma_value::Value;

use crate::ResourceSchema;

/// The implementation of an action type.
pub trait Action: Send + Sync {
    /// The schema of what it is invoked with.
    fn schema(&self) -> &ResourceSchema;

    /// Checks a configuration as a whole, after the validators of the attributes.
    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        let _ = config;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Says what speaks against invoking it. The configuration may hold unknown values. Where the request allows it, an action that
    /// cannot be judged yet may be deferred.
    fn plan(&self, request: PlanActionRequest) -> Answer<'_, PlanActionResponse> {
        let _ = request;
        Answer::ready(PlanActionResponse::default())
    }

    /// Does it; messages on the way go to the request's `progress`. No errors mean that it is done.
    fn invoke(&self, request: InvokeActionRequest) -> Answer<'_, ProviderDiagnostics>;
}

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
