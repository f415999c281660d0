//! Lifecycle steps after creation, and checks with unknown values.

use groma_provider::contract::{
    Secrets, check_compatible, check_shape, check_unknowns, check_write_only, normalize_legacy,
};
use groma_provider::{Block, Item, PlanResponse, Slot};
use groma_value::{Kind, Value};

use super::{Lifecycle, Object, Outcome, StepResult};
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
