//! Preparation of a plan before the resource's own code: defaults, unknown values, attribute modifiers (FW-02).

use groma_provider::contract::without_write_only;
use groma_provider::{Item, PlanRequest, ProviderDiagnostics};
use groma_value::{Path, Value};

use super::super::defaults::apply_defaults;
use super::modifiers::run_modifiers;
use crate::rewrite::keep_prior_form;
use crate::rewrite::{Next, ObjectStates, rewrite};
use crate::server::consistency::Change;
use crate::{PrivateData, ResourceSchema};

pub(super) fn prepare(schema: &ResourceSchema, request: &PlanRequest, private: &PrivateData) -> Prepared {
    let mut prepared = Prepared {
        plan: request.proposed_new_state.clone(),
        requires_replace: Vec::new(),
        changes: Vec::new(),
        diagnostics: ProviderDiagnostics::new(),
    };
    // FW-03: nothing is left open about an object that goes away.
    if request.config.is_null() {
        return prepared;
    }
    let (block, rules) = (schema.block(), schema.rules());
    prepared.plan = without_write_only(block, &prepared.plan);
    if rules.has.defaults {
        let plan = std::mem::replace(&mut prepared.plan, Value::NULL);
        prepared.plan = apply_defaults(schema, triple(request, &plan), &mut prepared.diagnostics);
    }
    if rules.has.equality && !request.prior_state.is_null() {
        prepared.plan = keep_prior_form(schema, &prepared.plan, &request.prior_state);
    }
    // FW-03: an object in which nothing changes keeps what the provider chose.
    if prepared.plan != request.prior_state {
        let plan = std::mem::replace(&mut prepared.plan, Value::NULL);
        prepared.plan = open_computed(schema, triple(request, &plan));
    }
    if rules.has.modifiers {
        let plan = std::mem::replace(&mut prepared.plan, Value::NULL);
        run_modifiers(schema, triple(request, &plan), private, &mut prepared);
    }
    prepared
}

fn triple<'a>(request: &'a PlanRequest, plan: &'a Value) -> ObjectStates<'a> {
    ObjectStates { config: &request.config, plan, state: &request.prior_state }
}

/// FW-02 (2): what the provider chooses, and the configuration does not say, may change with anything else.
fn open_computed(schema: &ResourceSchema, triple: ObjectStates<'_>) -> Value {
    rewrite(schema.block(), schema.rules(), triple, &mut |visit| match &visit.slot.item {
        Item::Attribute(attribute) if attribute.is_computed() && visit.config.is_null() => {
            if visit.rules.own.default.is_some() {
                Next::Past(visit.plan.clone())
            } else {
                Next::Past(Value::unknown(attribute.ty()))
            }
        }
        _ => Next::Into(visit.plan.clone()),
    })
}

/// A plan with everything done that the schema says.
pub(super) struct Prepared {
    pub(super) plan: Value,
    pub(super) requires_replace: Vec<Path>,
    /// The changes of each modifier, for the message about a plan that breaks the rules.
    pub(super) changes: Vec<Change>,
    pub(super) diagnostics: ProviderDiagnostics,
}
