//! Checks of responses against the rules.

use groma_provider::contract::{
    Secrets, Violation, check_compatible, check_planned, check_shape, check_unknowns, check_write_only,
    normalize_legacy, without_write_only,
};
use groma_provider::{ApplyResponse, PlanResponse, UpgradeResponse};
use groma_value::Value;

use super::{Lifecycle, Object, Outcome, StepResult};
use crate::rule::{Observation, Rule, Step, Weight};

impl Lifecycle<'_> {
    pub(super) fn note(
        &mut self,
        violations: &[Violation],
        weight: Weight,
        step: Step,
        rule: impl Fn(&Violation) -> Rule,
    ) {
        let schema = self.schema.clone();
        let secrets = Secrets::new(&schema.block, &[]);
        for violation in violations {
            let observation = Observation {
                rule: rule(violation),
                weight,
                step,
                path: violation.location(),
                message: violation.message(secrets),
            };
            if !self.observations.contains(&observation) {
                self.observations.push(observation);
            }
        }
    }

    /// Checks rules P1 to P9; an error ends the lifecycle, if nothing further can be done with the plan.
    pub(super) fn check_plan(
        &mut self,
        step: Step,
        object: &Object,
        config: &Value,
        response: &PlanResponse,
    ) -> StepResult<()> {
        let schema = self.schema.clone();
        let block = &schema.block;
        let planned = &response.planned_state;
        let shape = check_shape(block.implied_type(), planned);
        if !shape.is_empty() {
            self.note(&shape, Weight::Error, step, |_| Rule::Shape);
            return Err(Outcome::Completed);
        }
        self.note(&check_write_only(block, planned), Weight::Error, step, |_| Rule::WriteOnly);
        let weight = if response.legacy_type_system { Weight::Exempt } else { Weight::Error };
        let wrong = check_planned(block, &object.state, config, planned);
        self.note(&wrong, weight, step, Rule::of_plan);
        if planned.is_null() {
            return Err(Outcome::Completed);
        }
        for path in &response.requires_replace {
            let (before, after) = (object.state.path_get(path), planned.path_get(path));
            if !object.state.is_null() && before.is_err() && after.is_err() {
                let message = "requires replacement for an attribute that does not exist".to_owned();
                self.observe(Rule::Replacement, Weight::Error, step, path.to_string(), message);
            }
        }
        let creates = object.state.is_null() || !response.requires_replace.is_empty();
        self.check_identity(step, response.planned_identity.as_ref(), !creates);
        Ok(())
    }

    fn check_identity(&mut self, step: Step, identity: Option<&Value>, known: bool) {
        let Some(identity) = identity.filter(|identity| !identity.is_null()) else { return };
        let schema = self.schema.clone();
        match &schema.identity {
            None => {
                let message = "returned an identity, but the type has no identity schema".to_owned();
                self.observe(Rule::Identity, Weight::Error, step, String::new(), message);
            }
            Some(declared) => {
                let mut wrong = check_shape(&declared.implied_type(), identity);
                if wrong.is_empty() && known {
                    wrong = check_unknowns(identity);
                }
                self.note(&wrong, Weight::Error, step, |_| Rule::Identity);
            }
        }
    }

    /// Checks rules A2 to A8 and returns the object to record.
    pub(super) fn check_result(&mut self, step: Step, planned: &Value, response: &ApplyResponse) -> Option<Value> {
        let schema = self.schema.clone();
        let block = &schema.block;
        let failed = response.diagnostics.has_errors();
        let Some(state) = response.new_state.clone() else {
            if !failed {
                self.observe(Rule::Existence, Weight::Error, step, String::new(), "returned no object".into());
            }
            return None;
        };
        let shape = check_shape(block.implied_type(), &state);
        if !shape.is_empty() {
            self.note(&shape, Weight::Error, step, |_| Rule::Shape);
            return None;
        }
        if state.is_null() {
            if !failed {
                let message = "succeeded without returning an object".to_owned();
                self.observe(Rule::Existence, Weight::Error, step, String::new(), message);
            }
            return None;
        }
        self.note(&check_write_only(block, &state), Weight::Error, step, |_| Rule::WriteOnly);
        // One finding per cause: the rest of the lifecycle continues without the invalid values.
        let state = without_write_only(block, &state);
        let state = if response.legacy_type_system { normalize_legacy(block, &state) } else { state };
        self.note(&check_unknowns(&state), Weight::Error, step, |_| Rule::Known);
        if !failed {
            let weight = if response.legacy_type_system { Weight::Exempt } else { Weight::Error };
            let wrong = check_compatible(block, planned, &state);
            // Unknown values were already reported by `check_unknowns`.
            let wrong: Vec<Violation> = wrong.into_iter().filter(|one| Rule::of_result(one) != Rule::Known).collect();
            self.note(&wrong, weight, step, Rule::of_result);
            self.check_identity(step, response.new_identity.as_ref(), true);
        }
        Some(state.unknown_as_null())
    }

    pub(super) fn check_upgrade(&mut self, object: &Object, response: &UpgradeResponse) {
        let step = Step::Upgrade;
        if let Some(problem) = response.diagnostics.iter().find(|problem| problem.is_error()) {
            let message = format!("rejected: {}", problem.summary);
            return self.observe(Rule::Upgrade, Weight::Error, step, String::new(), message);
        }
        let schema = self.schema.clone();
        let shape = check_shape(schema.block.implied_type(), &response.upgraded_state);
        if !shape.is_empty() {
            return self.note(&shape, Weight::Error, step, |_| Rule::Shape);
        }
        let wrong = check_compatible(&schema.block, &object.state, &response.upgraded_state);
        self.note(&wrong, Weight::Advice, step, |_| Rule::Upgrade);
    }

    pub(super) fn check_planned_deletion(&mut self, response: &PlanResponse) {
        if !response.planned_state.is_null() {
            let message = "planned a non-null object for a deletion".to_owned();
            self.observe(Rule::Existence, Weight::Error, Step::PlanDelete, String::new(), message);
        }
    }

    pub(super) fn check_deleted(&mut self, response: &ApplyResponse) {
        if response.new_state.as_ref().is_none_or(|state| !state.is_null()) {
            let message = "succeeded, but still returned an object".to_owned();
            self.observe(Rule::Existence, Weight::Error, Step::Delete, String::new(), message);
        }
    }
}
