//! Planning, in the order of FW-02.

use groma_provider::contract::without_write_only;
use groma_provider::{Answer, Item, PlanRequest, PlanResponse, ProviderDiagnostic, ProviderDiagnostics};
use groma_value::{Path, Value};

use super::apply::{self, Change};
use super::{Server, panic};
use crate::modifier::{ModifierRequest, ModifierResponse, Objects};
use crate::resource::{ModifyPlanRequest, ModifyPlanResponse};
use crate::rewrite::{Next, ObjectStates, keep_prior_form, rewrite};
use crate::schema::DefaultRequest;
use crate::{PrivateData, Resource, ResourceSchema};

impl Server {
    pub(super) fn plan(&self, request: PlanRequest) -> Answer<'_, PlanResponse> {
        let resource = match self.types.known_resource(&*self.definition, &request.type_name) {
            Ok(resource) => resource,
            Err(problems) => return Answer::ready(refused(request, problems)),
        };
        let private = PrivateData::decode(&request.prior_private);
        let prepared = panic::catch("plan modification", || prepare(resource.schema(), &request, &private));
        let prepared = match prepared {
            // Errors of attributes end the plan: `modify_plan` would see a plan that is wrong already.
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

/// Creates the response for a failed plan.
fn refused(request: PlanRequest, diagnostics: ProviderDiagnostics) -> PlanResponse {
    let response = PlanResponse::new(request.proposed_new_state, request.prior_private);
    PlanResponse { diagnostics, planned_identity: request.prior_identity, ..response }
}

/// Checks the plan after all modifications against the rules for every provider (FW-13, FW-15).
fn finish(
    resource: &dyn Resource,
    request: &PlanRequest,
    prepared: Prepared,
    response: ModifyPlanResponse,
) -> PlanResponse {
    let mut diagnostics = prepared.diagnostics;
    diagnostics.extend(response.diagnostics);
    let host = request.client_capabilities;
    let deferred = response.deferral.and_then(|deferral| deferral.report(host, &mut diagnostics));
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
    // A deferred plan is a guess, which no rule binds.
    if !destroys && deferred.is_none() && !diagnostics.has_errors() {
        diagnostics.extend(apply::check_plan(resource.schema(), request, &response.plan, &prepared.changes));
    }
    // A deleted object has no identity.
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

pub(super) fn run_modifiers(
    schema: &ResourceSchema,
    triple: ObjectStates<'_>,
    private: &PrivateData,
    prepared: &mut Prepared,
) {
    let whole = Objects { config: triple.config, plan: triple.plan, state: triple.state };
    let Prepared { requires_replace, changes, diagnostics, .. } = prepared;
    let plan = rewrite(schema.block(), schema.rules(), triple, &mut |visit| {
        let mut plan = visit.plan.clone();
        let mut replace = false;
        for modifier in &visit.rules.own.modifiers {
            let request = ModifierRequest {
                path: visit.path,
                config: visit.config,
                plan: &plan,
                state: visit.state,
                whole,
                private,
            };
            let mut response = ModifierResponse {
                plan: plan.clone(),
                requires_replace: false,
                diagnostics: ProviderDiagnostics::new(),
            };
            modifier.modify(&request, &mut response);
            replace |= response.requires_replace;
            let failed = response.diagnostics.has_errors();
            diagnostics.extend(response.diagnostics);
            if response.plan != plan {
                // Remembered for the message, should the plan contradict the configuration.
                changes.push(Change { path: visit.path.clone(), description: modifier.description() });
                plan = response.plan;
            }
            if failed {
                // FW-05: neither the further modifiers of this attribute nor those of anything inside it.
                return Next::Past(plan);
            }
        }
        if replace {
            requires_replace.push(visit.path.clone());
        }
        // FW-04: nested attributes follow, with the result of this modifier.
        if visit.rules.nested.as_ref().is_some_and(|nested| nested.kinds.modifiers) {
            Next::Into(plan)
        } else {
            Next::Past(plan)
        }
    });
    prepared.plan = plan;
}

pub(super) fn prepare(schema: &ResourceSchema, request: &PlanRequest, private: &PrivateData) -> Prepared {
    let mut prepared = Prepared {
        plan: request.proposed_new_state.clone(),
        requires_replace: Vec::new(),
        changes: Vec::new(),
        diagnostics: ProviderDiagnostics::new(),
    };
    // FW-03: the plan of a deletion has no unknown values.
    if request.config.is_null() {
        return prepared;
    }
    let (block, rules) = (schema.block(), schema.rules());
    // Write-only values are in the configuration only; a plan is stored (LC-29).
    prepared.plan = without_write_only(block, &prepared.plan);
    if rules.kinds.defaults {
        let plan = std::mem::replace(&mut prepared.plan, Value::NULL);
        prepared.plan = apply_defaults(schema, triple(request, &plan), &mut prepared.diagnostics);
    }
    // Before the comparison below, so that a value in another form does not count as a change (FW-17).
    if rules.kinds.equality && !request.prior_state.is_null() {
        prepared.plan = keep_prior_form(schema, &prepared.plan, &request.prior_state);
    }
    // FW-03: an object in which nothing changes keeps what the provider chose.
    if prepared.plan != request.prior_state {
        let plan = std::mem::replace(&mut prepared.plan, Value::NULL);
        prepared.plan = open_computed(schema, triple(request, &plan));
    }
    if rules.kinds.modifiers {
        let plan = std::mem::replace(&mut prepared.plan, Value::NULL);
        run_modifiers(schema, triple(request, &plan), private, &mut prepared);
    }
    prepared
}

fn triple<'a>(request: &'a PlanRequest, plan: &'a Value) -> ObjectStates<'a> {
    ObjectStates { config: &request.config, plan, state: &request.prior_state }
}

/// FW-02 (2): a computed value that the configuration does not set may change with any other change.
fn open_computed(schema: &ResourceSchema, triple: ObjectStates<'_>) -> Value {
    rewrite(schema.block(), schema.rules(), triple, &mut |visit| match &visit.slot.item {
        Item::Attribute(attribute) if attribute.is_computed() && visit.config.is_null() => {
            // A default is the planned value, so it does not become unknown.
            if visit.rules.own.default.is_some() {
                Next::Past(visit.plan.clone())
            } else {
                Next::Past(Value::unknown(attribute.ty()))
            }
        }
        _ => Next::Into(visit.plan.clone()),
    })
}

/// A plan after its defaults and modifiers.
pub(super) struct Prepared {
    pub(super) plan: Value,
    pub(super) requires_replace: Vec<Path>,
    /// The changes of each modifier, for the message about a plan that breaks the rules.
    pub(super) changes: Vec<Change>,
    pub(super) diagnostics: ProviderDiagnostics,
}

/// Returns the plan with defaults for values that the configuration does not set.
pub(super) fn apply_defaults(
    schema: &ResourceSchema,
    triple: ObjectStates<'_>,
    diagnostics: &mut ProviderDiagnostics,
) -> Value {
    rewrite(schema.block(), schema.rules(), triple, &mut |visit| {
        let Some(default) = visit.rules.own.default.as_ref().filter(|_| visit.config.is_null()) else {
            return Next::Into(visit.plan.clone());
        };
        match default.resolve(&DefaultRequest { path: visit.path, config: triple.config }) {
            Ok(value) => Next::Past(value),
            Err(problem) => {
                // A default that fails without a path is about its own attribute.
                diagnostics.push(if problem.path.is_empty() { problem.at(visit.path.clone()) } else { problem });
                Next::Past(visit.plan.clone())
            }
        }
    })
}

/// Returns a configuration that is not planned with its defaults: that of a data source, an ephemeral resource, an
/// action, a list resource or the provider.
///
/// # Errors
///
/// The error of a computed default.
pub(super) fn with_defaults(schema: &ResourceSchema, config: Value) -> Result<Value, ProviderDiagnostics> {
    if !schema.rules().kinds.defaults || config.is_null() {
        return Ok(config);
    }
    let mut diagnostics = ProviderDiagnostics::new();
    // There is no plan and no state: the walk sees the configuration as all three.
    let triple = ObjectStates { config: &config, plan: &config, state: &config };
    let filled = panic::catch("defaults", || apply_defaults(schema, triple, &mut diagnostics))?;
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(filled) }
}
