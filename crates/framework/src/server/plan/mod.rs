//! Planning, in the order of FW-02.

mod modifiers;
mod prepare;

use groma_provider::{Answer, PlanRequest, PlanResponse, ProviderDiagnostic, ProviderDiagnostics};

use super::{Server, consistency, panic};
use crate::resource::{ModifyPlanRequest, ModifyPlanResponse};
use crate::{PrivateData, Resource};

impl Server {
    pub(super) fn plan(&self, request: PlanRequest) -> Answer<'_, PlanResponse> {
        let resource = match self.types.known_resource(&*self.definition, &request.type_name) {
            Ok(resource) => resource,
            Err(problems) => return Answer::ready(refused(request, problems)),
        };
        let private = PrivateData::decode(&request.prior_private);
        let prepared = panic::catch("plan modification", || prepare::prepare(resource.schema(), &request, &private));
        let prepared = match prepared {
            Ok(prepared) if !prepared.diagnostics.has_errors() => prepared,
            Ok(prepared) => return Answer::ready(refused(request, prepared.diagnostics)),
            Err(problems) => return Answer::ready(refused(request, problems)),
        };
        let whole = ModifyPlanRequest {
            config: request.config.clone(),
            plan: prepared.plan.clone(),
            state: request.prior_state.clone(),
            private,
            requires_replace: prepared.requires_replace.clone(),
        };
        let unchanged = whole.clone();
        let modified = panic::guard(
            "modify_plan",
            || resource.modify_plan(whole),
            move |problems| ModifyPlanResponse { diagnostics: problems, ..unchanged.unchanged() },
        );
        modified.map(move |response| finish(resource, &request, prepared, response))
    }
}

/// A response for a plan that could not be made.
fn refused(request: PlanRequest, diagnostics: ProviderDiagnostics) -> PlanResponse {
    let response = PlanResponse::new(request.proposed_new_state, request.prior_private);
    PlanResponse { diagnostics, planned_identity: request.prior_identity, ..response }
}

/// Holds what came out of all modifications to the rules that any provider must keep (FW-13, FW-15).
fn finish(
    resource: &dyn Resource,
    request: &PlanRequest,
    prepared: prepare::Prepared,
    response: ModifyPlanResponse,
) -> PlanResponse {
    let mut diagnostics = prepared.diagnostics;
    diagnostics.extend(response.diagnostics);
    let host = request.client_capabilities;
    let deferred = response.not_yet.and_then(|not_yet| not_yet.report(host, &mut diagnostics));
    let destroys = request.config.is_null();
    if destroys && !response.plan.is_null() {
        diagnostics.push(ProviderDiagnostic::error(
            "Plan of a deletion must stay null",
            format!(
                "The modify_plan of {} returned an object for an object that is to be deleted. It must leave the plan null \
                 there: a null plan is how it can tell.",
                request.type_name
            ),
        ));
    }
    if !destroys && deferred.is_none() && !diagnostics.has_errors() {
        diagnostics.extend(consistency::check_plan(resource.schema(), request, &response.plan, &prepared.changes));
    }
    let identity = request.prior_identity.clone().filter(|_| !destroys);
    PlanResponse {
        planned_state: response.plan,
        requires_replace: response.requires_replace,
        planned_private: response.private.encode(),
        legacy_type_system: false,
        deferred,
        planned_identity: identity,
        diagnostics,
    }
}
