//! Actions and list resources on the server.

use groma_provider::{
    Answer, InvokeActionRequest, ListRequest, PlanActionRequest, PlanActionResponse, ProviderDiagnostics,
};

use super::defaults::with_defaults;
use super::{Server, panic};

impl Server {
    pub(super) fn plan_invocation(&self, request: PlanActionRequest) -> Answer<'_, PlanActionResponse> {
        let failed = |diagnostics| PlanActionResponse { deferred: None, diagnostics };
        let action = self.types.known_action(&*self.definition, &request.type_name);
        let ready = action.and_then(|action| Ok((action, with_defaults(action.schema(), request.config)?)));
        match ready {
            Ok((action, config)) => {
                let request = PlanActionRequest { config, ..request };
                panic::guard("plan", || action.plan(request), failed)
            }
            Err(problems) => Answer::ready(failed(problems)),
        }
    }

    pub(super) fn invoke(&self, request: InvokeActionRequest) -> Answer<'_, ProviderDiagnostics> {
        let action = self.types.known_action(&*self.definition, &request.type_name);
        let ready = action.and_then(|action| Ok((action, with_defaults(action.schema(), request.config)?)));
        match ready {
            Ok((action, config)) => {
                let request = InvokeActionRequest { config, ..request };
                panic::guard("invoke", || action.invoke(request), |problems| problems)
            }
            Err(problems) => Answer::ready(problems),
        }
    }
}

impl Server {
    pub(super) fn search(&self, request: ListRequest) -> Answer<'_, ProviderDiagnostics> {
        let list = self.types.known_list(&*self.definition, &request.type_name);
        let ready = list.and_then(|list| Ok((list, with_defaults(list.schema(), request.config)?)));
        match ready {
            Ok((list, config)) => {
                let request = ListRequest { config, ..request };
                panic::guard("list", || list.list(request), |problems| problems)
            }
            Err(problems) => Answer::ready(problems),
        }
    }
}
