//! Create, update and delete (LC-14 to LC-16), and the checks of plans and results.

use groma_provider::contract::{Secrets, Violation, check_compatible, check_planned, without_write_only};
use groma_provider::{
    Answer, ApplyRequest, ApplyResponse, ClientCapabilities, PlanRequest, ProviderDiagnostic, ProviderDiagnostics,
};
use groma_value::{Path, Value};

use super::{Server, panic};
use crate::resource::{CreateRequest, DeleteRequest, ObjectResponse, UpdateRequest};
use crate::rewrite::keep_prior_form;
use crate::{PrivateData, Resource, ResourceSchema};

impl Server {
    pub(super) fn apply(&self, request: ApplyRequest) -> Answer<'_, ApplyResponse> {
        let resource = match self.types.known_resource(&*self.definition, &request.type_name) {
            Ok(resource) => resource,
            Err(problems) => return Answer::ready(refused(&request, problems)),
        };
        let private = PrivateData::decode(&request.planned_private);
        if request.planned_state.is_null() {
            return delete(resource, request, private);
        }
        // A panic reports no object, so `finish` falls back on the prior state.
        let failed = |problems| ObjectResponse { diagnostics: problems, ..ObjectResponse::gone() };
        let (plan, config, state) =
            (request.planned_state.clone(), request.config.clone(), request.prior_state.clone());
        let identity = request.planned_identity.clone();
        let answer = if request.prior_state.is_null() {
            panic::guard("create", || resource.create(CreateRequest { config, plan, private }), failed)
        } else {
            panic::guard("update", || resource.update(UpdateRequest { config, plan, state, private, identity }), failed)
        };
        answer.map(move |response| finish(resource, &request, response))
    }
}

fn delete(resource: &dyn Resource, request: ApplyRequest, private: PrivateData) -> Answer<'_, ApplyResponse> {
    let state = request.prior_state.clone();
    let answer = panic::guard("delete", || resource.delete(DeleteRequest { state, private }), |problems| problems);
    answer.map(move |diagnostics| {
        if diagnostics.has_errors() {
            // A failed deletion leaves the object in the state (LC-16).
            return refused(&request, diagnostics);
        }
        let response = ApplyResponse::new(request.planned_state, groma_provider::Private::default());
        ApplyResponse { diagnostics, ..response }
    })
}

/// Creates the response for a change that was not made.
fn refused(request: &ApplyRequest, diagnostics: ProviderDiagnostics) -> ApplyResponse {
    let response = ApplyResponse::new(request.prior_state.clone(), request.planned_private.clone());
    ApplyResponse { diagnostics, new_identity: request.planned_identity.clone(), ..response }
}

fn finish(resource: &dyn Resource, request: &ApplyRequest, response: ObjectResponse) -> ApplyResponse {
    let schema = resource.schema();
    let mut diagnostics = response.diagnostics;
    if let Some(deferral) = response.deferral {
        // An apply cannot be deferred any more.
        deferral.report(ClientCapabilities::default(), &mut diagnostics);
    }
    let failed = diagnostics.has_errors();
    let state = match response.state {
        Some(state) => {
            let state = keep_prior_form(schema, &state, &request.planned_state);
            without_write_only(schema.block(), &state)
        }
        // A response without an object means that nothing was changed.
        None if failed => return refused(request, diagnostics),
        None => {
            diagnostics.push(ProviderDiagnostic::error(
                "No object from provider code",
                format!(
                    "Creating or changing an object of {} succeeded, but the provider returned no object.",
                    request.type_name
                ),
            ));
            return refused(request, diagnostics);
        }
    };
    // A value of another type is not comparable; the engine reports it.
    if !failed && shaped(schema.block().implied_type(), &state) {
        diagnostics.extend(check_result(schema, &request.type_name, &request.planned_state, &state));
    }
    ApplyResponse {
        new_state: Some(state),
        private: response.private.encode(),
        legacy_type_system: false,
        // An identity does not change during an apply, so a provider need not repeat it.
        new_identity: response.identity.or_else(|| request.planned_identity.clone()),
        diagnostics,
    }
}

fn shaped(ty: &groma_value::Type, state: &Value) -> bool {
    groma_provider::contract::check_shape(ty, state).is_empty()
}

/// A change of a planned value by a plan modifier.
pub(super) struct Change {
    pub(super) path: Path,
    /// The description of the modifier.
    pub(super) description: String,
}

/// Checks a plan against the configuration (LC-07 to LC-09).
pub(super) fn check_plan(
    schema: &ResourceSchema,
    request: &PlanRequest,
    plan: &Value,
    changes: &[Change],
) -> ProviderDiagnostics {
    let violations = check_planned(schema.block(), &request.prior_state, &request.config, plan);
    let report = |violation: &Violation| {
        // The last modifier that changed the path or something above it.
        let blamed = changes.iter().rev().find(|change| violation.path.starts_with(&change.path));
        let who = match blamed {
            Some(change) => format!("It was last changed by the plan modifier \"{}\"", change.description),
            None => "It was changed by the modify_plan of the resource".to_owned(),
        };
        let detail = format!(
            "{}{}: {}. {who}. A value from the configuration must be planned as it is, or as the prior state has it; only \
             computed attributes that the configuration leaves out are the provider's to choose.",
            request.type_name,
            violation.location(),
            violation.message(Secrets::new(schema.block(), &[])),
        );
        ProviderDiagnostic::error("Inconsistent plan from provider code", detail).at(violation.path.clone())
    };
    violations.iter().map(report).collect()
}

/// Checks a new state against the plan (LC-12, LC-13).
pub(super) fn check_result(
    schema: &ResourceSchema,
    type_name: &str,
    plan: &Value,
    state: &Value,
) -> ProviderDiagnostics {
    let violations = check_compatible(schema.block(), plan, state);
    let report = |violation: &Violation| {
        let detail = format!(
            "{type_name}{}: {}. What was planned as known must be returned as it was planned, in the author's own form; \
             what cannot be known before must be planned as unknown.",
            violation.location(),
            violation.message(Secrets::new(schema.block(), &[])),
        );
        ProviderDiagnostic::error("Inconsistent result from provider code", detail).at(violation.path.clone())
    };
    violations.iter().map(report).collect()
}
