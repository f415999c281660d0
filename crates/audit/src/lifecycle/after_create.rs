//! Checks of an object after its creation: reading it back, planning it again, importing it.

use groma_provider::contract::{
    Secrets, check_compatible, check_shape, check_unknowns, check_write_only, normalize_legacy,
};
use groma_provider::{Block, ImportRequest, ImportTarget, Item, PlanResponse, Private, Slot};
use groma_value::{Kind, Value};

use super::{Lifecycle, Object, Outcome, StepResult, capabilities};
use crate::generate::with_slot;
use crate::rule::{Rule, Step, Weight};

/// The number of arguments that are tried with an unknown value.
const UNKNOWN_ARGUMENTS: usize = 4;

/// Makes one argument at a time unknown; returns some variants of `config` with the path of the argument.
pub(super) fn with_unknowns(block: &Block, config: &Value) -> Vec<(String, Value)> {
    let Kind::Object(object) = config.kind() else { return Vec::new() };
    let slots = block.slots().iter().zip(object.values());
    let set = slots.filter(|(slot, value)| matches!(slot.item, Item::Attribute(_)) && !value.is_null());
    let open = |(slot, _): (&Slot, &Value)| {
        (format!(".{}", slot.name), with_slot(block, config, &slot.name, Value::unknown(slot.item.ty())))
    };
    set.take(UNKNOWN_ARGUMENTS).map(open).collect()
}

impl Lifecycle<'_> {
    /// Validates and plans variants of the configuration with one unknown value (LC-03, LC-10, LC-11).
    pub(super) fn check_unknown_values(
        &mut self,
        nothing: &Object,
        config: &Value,
        last: &PlanResponse,
    ) -> StepResult<()> {
        let schema = self.schema.clone();
        for (path, open) in with_unknowns(&schema.block, config) {
            let refusal = self.validated(&open)?;
            if let Some(problem) = refusal.iter().find(|problem| problem.is_error()) {
                let message = format!("rejected as an unknown value: {}", problem.summary);
                self.observe(Rule::Unknown, Weight::Error, Step::Validate, path, message);
                continue;
            }
            let first = self.planned(Step::Plan, nothing, &open)?;
            if let Some(problem) = first.diagnostics.iter().find(|problem| problem.is_error()) {
                let message = format!("cannot be planned with an unknown value: {}", problem.summary);
                self.observe(Rule::Unknown, Weight::Advice, Step::Plan, path, message);
                continue;
            }
            if first.deferred.is_some() || self.check_plan(Step::Plan, nothing, &open, &first).is_err() {
                continue;
            }
            for changed in check_compatible(&schema.block, &first.planned_state, &last.planned_state) {
                let what = changed.message(Secrets::new(&schema.block, &[]));
                let message = format!("{what} (after a plan with {path} unknown)");
                self.observe(Rule::FinalPlan, Weight::Error, Step::Plan, changed.location(), message);
            }
        }
        Ok(())
    }

    /// Reads the new object right after its creation (LC-21, LC-22).
    pub(super) fn read_back(&mut self, object: &Object) -> StepResult<Object> {
        let response = self.read(Step::Read, object)?;
        if let Some(problem) = response.diagnostics.iter().find(|problem| problem.is_error()) {
            let message = format!("the new object cannot be read: {}", problem.summary);
            self.observe(Rule::Drift, Weight::Advice, Step::Read, String::new(), message);
            return Ok(object.clone());
        }
        let schema = self.schema.clone();
        let block = &schema.block;
        let mut wrong = check_shape(block.implied_type(), &response.new_state);
        if wrong.is_empty() {
            self.note(&check_write_only(block, &response.new_state), Weight::Error, Step::Read, |_| Rule::WriteOnly);
            wrong = check_unknowns(&response.new_state);
            self.note(&wrong, Weight::Error, Step::Read, |_| Rule::Read);
        } else {
            self.note(&wrong, Weight::Error, Step::Read, |_| Rule::Shape);
        }
        if !wrong.is_empty() {
            return Ok(object.clone());
        }
        if response.new_state.is_null() {
            let message = "the new object was not found".to_owned();
            self.observe(Rule::Drift, Weight::Advice, Step::Read, String::new(), message);
            return Ok(object.clone());
        }
        let state = normalize_legacy(block, &response.new_state);
        let drift = check_compatible(block, &object.state, &state);
        self.note(&drift, Weight::Advice, Step::Read, |_| Rule::Drift);
        Ok(Object { state, private: response.private, identity: response.new_identity })
    }

    /// Plans the same configuration again, which should find no changes (FW-03).
    pub(super) fn plan_again(&mut self, object: &Object, config: &Value) -> StepResult<()> {
        let step = Step::PlanAgain;
        let response = self.planned(step, object, config)?;
        if let Some(problem) = response.diagnostics.iter().find(|problem| problem.is_error()) {
            let message = format!("planning the new object again failed: {}", problem.summary);
            self.observe(Rule::Stable, Weight::Advice, step, String::new(), message);
            return Ok(());
        }
        if response.deferred.is_some() || self.check_plan(step, object, config, &response).is_err() {
            return Ok(());
        }
        let schema = self.schema.clone();
        let planned = normalize_legacy(&schema.block, &response.planned_state);
        let changes = check_compatible(&schema.block, &object.state, &planned);
        self.note(&changes, Weight::Advice, step, |_| Rule::Stable);
        Ok(())
    }

    /// Updates or replaces the object with another configuration.
    pub(super) fn change(&mut self, created: &mut Option<Object>, changed: &Value) -> StepResult<()> {
        let Some(object) = created.clone() else { return Ok(()) };
        // A rejection of the other configuration is not a finding.
        if self.validated(changed)?.has_errors() {
            return Ok(());
        }
        let planned = match self.plan(Step::PlanUpdate, &object, changed) {
            Err(Outcome::Refused(_)) => return Ok(()),
            planned => planned?,
        };
        if planned.deferred.is_some() {
            return Ok(());
        }
        if planned.requires_replace.is_empty() {
            if planned.planned_state == object.state {
                return Ok(());
            }
            return self.apply(Step::Update, created, changed, planned);
        }
        self.delete(&object)?;
        *created = None;
        let planned = self.plan(Step::Plan, &self.absent_object(), changed)?;
        self.apply(Step::Create, created, changed, planned)
    }
}

impl Lifecycle<'_> {
    /// Imports the object by its identity, or by its ID without one. The provider may not support import (LC-25).
    pub(super) fn import(&mut self, object: &Object) -> StepResult<()> {
        let step = Step::Import;
        let Some(target) = target(object) else { return Ok(()) };
        let request = ImportRequest {
            type_name: self.type_name.clone(),
            target,
            config: None,
            client_capabilities: capabilities(),
        };
        let answer = self.caller.call(|provider| provider.import_resource(request), |response| &response.diagnostics);
        let response = answer.map_err(|no_response| self.unresponsive(step, no_response))?;
        // Import is optional, so a refusal is no violation.
        if response.diagnostics.has_errors() || response.deferred.is_some() {
            return Ok(());
        }
        let schema = self.schema.clone();
        let block = &schema.block;
        let [imported] = &*response.imported else { return Ok(()) };
        if imported.type_name != self.type_name {
            return Ok(());
        }
        if imported.state.is_null() {
            let message = "succeeded without returning an object".to_owned();
            self.observe(Rule::Import, Weight::Error, step, String::new(), message);
            return Ok(());
        }
        let shape = check_shape(block.implied_type(), &imported.state);
        if !shape.is_empty() {
            self.note(&shape, Weight::Error, step, |_| Rule::Shape);
            return Ok(());
        }
        self.note(&check_unknowns(&imported.state), Weight::Error, step, |_| Rule::Known);
        self.note(&check_write_only(block, &imported.state), Weight::Error, step, |_| Rule::WriteOnly);
        if !imported.state.is_wholly_known() {
            return Ok(());
        }
        let stub = Object {
            state: imported.state.clone(),
            private: Private::clone(&imported.private),
            identity: imported.identity.clone(),
        };
        let read = self.read(step, &stub)?;
        if read.diagnostics.has_errors() {
            return Ok(());
        }
        if read.new_state.is_null() {
            let message = "the new object cannot be found by its identity or ID".to_owned();
            self.observe(Rule::Import, Weight::Advice, step, String::new(), message);
            return Ok(());
        }
        if check_shape(block.implied_type(), &read.new_state).is_empty() {
            // Attributes that the import leaves null are set by the next plan, so only different values count.
            let both = fill_missing(&object.state, &read.new_state);
            let mut paths: Vec<String> =
                check_compatible(block, &object.state, &both).iter().map(|wrong| wrong.location()).collect();
            paths.dedup();
            if !paths.is_empty() {
                let message =
                    format!("importing it by the ID in its state returns different values in {}", paths.join(", "));
                self.observe(Rule::Import, Weight::Advice, step, String::new(), message);
            }
        }
        Ok(())
    }
}

fn target(object: &Object) -> Option<ImportTarget> {
    if let Some(identity) = object.identity.as_ref().filter(|identity| !identity.is_null()) {
        return Some(ImportTarget::Identity(identity.clone()));
    }
    let id = object.state.attribute("id")?;
    id.as_str().filter(|id| !id.is_empty()).map(|id| ImportTarget::Id(id.to_owned()))
}

/// Completes `found` with values of `made` where `found` has none.
fn fill_missing(made: &Value, found: &Value) -> Value {
    let (Kind::Object(made), Kind::Object(view)) = (made.kind(), found.kind()) else { return found.clone() };
    let empty = |value: &Value| value.is_null() || value.held_length() == Some(0);
    let values = made.values().iter().zip(view.values());
    Value::object_shaped(
        view.shape(),
        values.map(|(made, found)| if empty(found) { made } else { found }.clone()).collect(),
    )
}
