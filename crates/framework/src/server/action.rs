//! Planning and invoking actions.

use groma_provider::{Answer, InvokeActionRequest, PlanActionRequest, PlanActionResponse, ProviderDiagnostics};

use super::{Server, panic};

impl Server {
    pub(super) fn plan_invocation(&self, request: PlanActionRequest) -> Answer<'_, PlanActionResponse> {
        let failed = |diagnostics| PlanActionResponse { deferred: None, diagnostics };
        match self.types.known_action(&*self.definition, &request.type_name) {
            Ok(action) => panic::guard("plan", || action.plan(request), failed),
            Err(problems) => Answer::ready(failed(problems)),
        }
    }

    pub(super) fn invoke(&self, request: InvokeActionRequest) -> Answer<'_, ProviderDiagnostics> {
        match self.types.known_action(&*self.definition, &request.type_name) {
            Ok(action) => panic::guard("invoke", || action.invoke(request), |problems| problems),
            Err(problems) => Answer::ready(problems),
        }
    }
}
