//! The author's side of actions: side effects on request, without an object in the state.

use groma_provider::{Answer, InvokeActionRequest, PlanActionRequest, PlanActionResponse, ProviderDiagnostics};
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
