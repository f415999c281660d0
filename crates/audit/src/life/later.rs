//! What comes after the creation, and what comes before everything is known.

use groma_provider::contract::{
    Secrets, check_compatible, check_shape, check_unknowns, check_write_only, normalize_legacy,
};
use groma_provider::{Block, Item, PlanResponse, Slot};
use groma_value::{Kind, Value};

use super::{End, Life, Object, Stepped};
use crate::generate::with_slot;
use crate::rule::{Rule, Step, Weight};

/// So many arguments are tried with a value that is not known yet.
const UNKNOWN_ARGUMENTS: usize = 4;

/// `config` while one of its arguments is not known yet: for some of them, where the argument is and the configuration.
pub(super) fn with_unknowns(block: &Block, config: &Value) -> Vec<(String, Value)> {
    let Kind::Object(object) = config.kind() else { return Vec::new() };
    let slots = block.slots().iter().zip(object.values());
    let set = slots.filter(|(slot, value)| matches!(slot.item, Item::Attribute(_)) && !value.is_null());
    let open = |(slot, _): (&Slot, &Value)| {
        (format!(".{}", slot.name), with_slot(block, config, &slot.name, Value::unknown(slot.item.ty())))
    };
    set.take(UNKNOWN_ARGUMENTS).map(open).collect()
}

impl Life<'_> {
    /// LC-03, LC-10, LC-11: the same configuration while one of its values is not known yet.
    pub(super) fn check_unknown_values(
        &mut self,
        nothing: &Object,
        config: &Value,
        last: &PlanResponse,
    ) -> Stepped<()> {
        let schema = self.schema.clone();
        for (place, open) in with_unknowns(&schema.block, config) {
            let refusal = self.validated(&open)?;
            if let Some(problem) = refusal.iter().find(|problem| problem.is_error()) {
                let message = format!("it is refused while it is not known yet: {}", problem.summary);
                self.observe(Rule::Unknown, Weight::Error, Step::Validate, place, message);
                continue;
            }
            let first = self.planned(Step::Plan, nothing, &open)?;
            if let Some(problem) = first.diagnostics.iter().find(|problem| problem.is_error()) {
                let message = format!("there is no plan while it is not known yet: {}", problem.summary);
                self.observe(Rule::Unknown, Weight::Advice, Step::Plan, place, message);
                continue;
            }
            if first.deferred.is_some() || self.check_plan(Step::Plan, nothing, &open, &first).is_err() {
                continue;
            }
            for changed in check_compatible(&schema.block, &first.planned_state, &last.planned_state) {
                let what = changed.message(Secrets::new(&schema.block, &[]));
                let message = format!("{what} (planned first while {place} was not known yet)");
                self.observe(Rule::FinalPlan, Weight::Error, Step::Plan, changed.place(), message);
            }
        }
        Ok(())
    }

    /// LC-21, LC-22: the object as it is read right after it was made.
    pub(super) fn read_back(&mut self, object: &Object) -> Stepped<Object> {
        let response = self.read(Step::Read, object)?;
        if let Some(problem) = response.diagnostics.iter().find(|problem| problem.is_error()) {
            let message = format!("what was just made cannot be read: {}", problem.summary);
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
            let message = "what was just made is not found".to_owned();
            self.observe(Rule::Drift, Weight::Advice, Step::Read, String::new(), message);
            return Ok(object.clone());
        }
        let state = normalize_legacy(block, &response.new_state);
        let drift = check_compatible(block, &object.state, &state);
        self.note(&drift, Weight::Advice, Step::Read, |_| Rule::Drift);
        Ok(Object { state, private: response.private, identity: response.new_identity })
    }

    /// FW-03: with the same configuration there is nothing to do.
    pub(super) fn plan_again(&mut self, object: &Object, config: &Value) -> Stepped<()> {
        let step = Step::PlanAgain;
        let response = self.planned(step, object, config)?;
        if let Some(problem) = response.diagnostics.iter().find(|problem| problem.is_error()) {
            let message = format!("there is no plan for what was just made: {}", problem.summary);
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

    /// The object changed to another configuration, or replaced by one of it.
    pub(super) fn change(&mut self, alive: &mut Option<Object>, changed: &Value) -> Stepped<()> {
        let Some(object) = alive.clone() else { return Ok(()) };
        // That the other configuration is refused says nothing about the life so far.
        if self.validated(changed)?.has_errors() {
            return Ok(());
        }
        let planned = match self.plan(Step::PlanUpdate, &object, changed) {
            Err(End::Refused(_)) => return Ok(()),
            planned => planned?,
        };
        if planned.deferred.is_some() {
            return Ok(());
        }
        if planned.requires_replace.is_empty() {
            if planned.planned_state == object.state {
                return Ok(());
            }
            return self.apply(Step::Update, alive, changed, planned);
        }
        self.delete(&object)?;
        *alive = None;
        let planned = self.plan(Step::Plan, &self.nothing(), changed)?;
        self.apply(Step::Create, alive, changed, planned)
    }
}
