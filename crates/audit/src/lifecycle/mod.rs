//! The lifecycle of one object, checked against the rules step by step.

mod after_create;
mod checks;
mod unmanaged;

use std::sync::Arc;

use groma_provider::{
    ApplyRequest, ApplyResponse, Block, ClientCapabilities, Name, PlanRequest, PlanResponse, Private,
    ProviderDiagnostics, ReadRequest, ReadResponse, Schema, UpgradeRequest, ValidateRequest, proposed_new_state,
};
use groma_value::{Value, json};

use crate::calls::{Caller, NoResponse};
use crate::options::Kind;
use crate::rule::{Observation, Rule, Step, Weight};

/// The extent of a lifecycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Validate and plan, without creating anything.
    Plan,
    /// The complete lifecycle, from creation to deletion.
    Full,
}

/// The outcome of a lifecycle.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// The provider rejected the configuration or its plan.
    Refused(ProviderDiagnostics),
    /// The object could not be created or updated.
    Failed(ProviderDiagnostics),
    /// The lifecycle completed.
    Completed,
    /// The provider did not respond.
    Unresponsive,
}

/// An existing object.
#[derive(Clone)]
struct Object {
    state: Value,
    private: Private,
    identity: Option<Value>,
}

/// The type whose lifecycle is run.
#[derive(Clone)]
pub(crate) struct Subject {
    pub(crate) kind: Kind,
    pub(crate) type_name: Name,
    pub(crate) schema: Arc<Schema>,
}

/// One run of a lifecycle with its observations.
pub(crate) struct Lifecycle<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) kind: Kind,
    pub(crate) type_name: Name,
    pub(crate) schema: Arc<Schema>,
    pub(crate) extent: Extent,
    pub(crate) observations: Vec<Observation>,
}

/// The result of a step; an error ends the lifecycle early.
type StepResult<T> = Result<T, Outcome>;

impl<'a> Lifecycle<'a> {
    pub(crate) fn new(caller: &'a Caller, what: &Subject, extent: Extent) -> Self {
        let Subject { kind, type_name, schema } = what.clone();
        Self { caller, kind, type_name, schema, extent, observations: Vec::new() }
    }

    fn block(&self) -> &Block {
        &self.schema.block
    }

    /// Returns the prior object of a creation.
    fn absent_object(&self) -> Object {
        Object { state: self.block().null_value(), private: Private::default(), identity: None }
    }

    fn observe(&mut self, rule: Rule, weight: Weight, step: Step, path: String, message: String) {
        let observation = Observation { rule, weight, step, path, message };
        // A rule that is violated in each of many steps is reported once.
        if !self.observations.contains(&observation) {
            self.observations.push(observation);
        }
    }

    /// Runs the lifecycle with the configuration `config`, and with an update to `changed`.
    pub(crate) fn run(&mut self, config: &Value, changed: Option<&Value>) -> Outcome {
        match self.try_run(config, changed) {
            Ok(()) => Outcome::Completed,
            Err(end) => end,
        }
    }

    fn try_run(&mut self, config: &Value, changed: Option<&Value>) -> StepResult<()> {
        self.validate(config)?;
        match self.kind {
            Kind::Resource => self.run_managed(config, changed),
            Kind::DataSource => self.run_data(config),
            Kind::EphemeralResource => self.run_ephemeral(config),
            Kind::List => self.run_list(config),
            Kind::Action => self.run_action(config),
            // Functions are called, but have no lifecycle.
            Kind::Function => Ok(()),
        }
    }

    fn run_managed(&mut self, config: &Value, changed: Option<&Value>) -> StepResult<()> {
        let nothing = self.absent_object();
        let planned = self.plan(Step::Plan, &nothing, config)?;
        if planned.deferred.is_some() {
            return Ok(());
        }
        self.check_unknown_values(&nothing, config, &planned)?;
        // The extent limits what an audit does to a real service.
        if self.extent == Extent::Plan {
            return Ok(());
        }
        let mut created = None;
        let made = self.apply(Step::Create, &mut created, config, planned);
        let result = made.and_then(|()| self.run_created(&mut created, config, changed));
        // The object is deleted even after errors, so that the audit leaves nothing behind.
        // A provider that does not answer would not delete the object either.
        if !matches!(result, Err(Outcome::Unresponsive))
            && let Some(object) = created
        {
            self.delete(&object)?;
        }
        result
    }

    /// Runs the steps between creation and deletion.
    fn run_created(&mut self, created: &mut Option<Object>, config: &Value, changed: Option<&Value>) -> StepResult<()> {
        let Some(object) = created.clone() else { return Ok(()) };
        // The steps continue with the object that was read, as the engine does.
        let object = self.read_back(&object)?;
        self.plan_again(&object, config)?;
        self.upgrade(&object)?;
        self.import(&object)?;
        if let Some(changed) = changed {
            self.change(created, changed)?;
        }
        Ok(())
    }

    fn unresponsive(&mut self, step: Step, no_response: NoResponse) -> Outcome {
        self.observe(Rule::Answer, Weight::Error, step, String::new(), no_response);
        Outcome::Unresponsive
    }

    pub(crate) fn validate(&mut self, config: &Value) -> StepResult<()> {
        let problems = self.validated(config)?;
        if problems.has_errors() { Err(Outcome::Refused(problems)) } else { Ok(()) }
    }

    fn validated(&mut self, config: &Value) -> StepResult<ProviderDiagnostics> {
        let request = ValidateRequest {
            type_name: self.type_name.clone(),
            config: config.clone(),
            client_capabilities: capabilities(),
        };
        let kind = self.kind;
        // The operations differ by category, but their responses do not.
        let check = |provider: &'a dyn groma_provider::Provider| match kind {
            Kind::Resource | Kind::Function => provider.validate_resource(request),
            Kind::DataSource => provider.validate_data(request),
            Kind::EphemeralResource => provider.validate_ephemeral(request),
            Kind::List => provider.validate_list(request),
            Kind::Action => provider.validate_action(request),
        };
        let answer = self.caller.call(check, |problems| problems);
        answer.map_err(|no_response| self.unresponsive(Step::Validate, no_response))
    }

    /// Plans a change; an error unless the plan can be applied.
    fn plan(&mut self, step: Step, object: &Object, config: &Value) -> StepResult<PlanResponse> {
        let response = self.planned(step, object, config)?;
        if response.diagnostics.has_errors() {
            return Err(Outcome::Refused(response.diagnostics));
        }
        // The contract is checked only for plans that the engine would use.
        self.check_plan(step, object, config, &response)?;
        Ok(response)
    }

    fn planned(&mut self, step: Step, object: &Object, config: &Value) -> StepResult<PlanResponse> {
        let request = PlanRequest {
            type_name: self.type_name.clone(),
            proposed_new_state: proposed_new_state(self.block(), &object.state, config),
            prior_state: object.state.clone(),
            config: config.clone(),
            prior_private: object.private.clone(),
            meta: Value::NULL,
            client_capabilities: capabilities(),
            prior_identity: object.identity.clone(),
        };
        let answer = self.caller.call(|provider| provider.plan_resource(request), |response| &response.diagnostics);
        answer.map_err(|no_response| self.unresponsive(step, no_response))
    }

    /// Applies a planned change and updates `created`, also after a partial failure.
    fn apply(
        &mut self,
        step: Step,
        created: &mut Option<Object>,
        config: &Value,
        planned: PlanResponse,
    ) -> StepResult<()> {
        let before = created.clone().unwrap_or_else(|| self.absent_object());
        let plan = planned.planned_state.clone();
        let response = self.applied(step, &before, config, planned)?;
        let state = self.check_result(step, &plan, &response);
        let done = state.is_some() && !response.diagnostics.has_errors();
        // A failed apply may still have created the object, which then must be deleted.
        if let Some(state) = state {
            *created = Some(Object { state, private: response.private, identity: response.new_identity });
        }
        if done { Ok(()) } else { Err(Outcome::Failed(response.diagnostics)) }
    }

    fn applied(
        &mut self,
        step: Step,
        object: &Object,
        config: &Value,
        planned: PlanResponse,
    ) -> StepResult<ApplyResponse> {
        let request = ApplyRequest {
            type_name: self.type_name.clone(),
            prior_state: object.state.clone(),
            planned_state: planned.planned_state,
            config: config.clone(),
            planned_private: planned.planned_private,
            meta: Value::NULL,
            planned_identity: planned.planned_identity,
        };
        let answer = self.caller.call(|provider| provider.apply_resource(request), |response| &response.diagnostics);
        answer.map_err(|no_response| self.unresponsive(step, no_response))
    }

    fn read(&mut self, step: Step, object: &Object) -> StepResult<ReadResponse> {
        let request = ReadRequest {
            type_name: self.type_name.clone(),
            current_state: object.state.clone(),
            private: object.private.clone(),
            meta: Value::NULL,
            client_capabilities: capabilities(),
            current_identity: object.identity.clone(),
        };
        let answer = self.caller.call(|provider| provider.read_resource(request), |response| &response.diagnostics);
        answer.map_err(|no_response| self.unresponsive(step, no_response))
    }

    /// Upgrades the stored form of the object, which has the current schema version (LC-19).
    fn upgrade(&mut self, object: &Object) -> StepResult<()> {
        let Ok(raw) = json::to_json(&object.state, self.block().implied_type()) else { return Ok(()) };
        let Ok(raw_state) = String::from_utf8(raw) else { return Ok(()) };
        let request = UpgradeRequest {
            type_name: self.type_name.clone(),
            version: self.schema.version,
            raw_state: raw_state.into(),
        };
        let answer = self.caller.call(|provider| provider.upgrade_resource(request), |response| &response.diagnostics);
        let response = answer.map_err(|no_response| self.unresponsive(Step::Upgrade, no_response))?;
        self.check_upgrade(object, &response);
        Ok(())
    }

    /// Deletes the object, with a plan if the provider supports that.
    fn delete(&mut self, object: &Object) -> StepResult<()> {
        let null = self.block().null_value();
        let declared = self.caller.provider.schema();
        let asked = declared.is_ok_and(|declared| declared.capabilities.plan_destroy);
        let planned = if asked {
            let planned = self.planned(Step::PlanDelete, object, &null)?;
            if planned.diagnostics.has_errors() {
                return Err(Outcome::Failed(planned.diagnostics));
            }
            self.check_planned_deletion(&planned);
            // Some providers return more than null here; the engine sends null in any case.
            PlanResponse { planned_state: null.clone(), ..planned }
        } else {
            PlanResponse::new(null.clone(), object.private.clone())
        };
        let response = self.applied(Step::Delete, object, &null, planned)?;
        if response.diagnostics.has_errors() {
            return Err(Outcome::Failed(response.diagnostics));
        }
        self.check_deleted(&response);
        Ok(())
    }
}

fn capabilities() -> ClientCapabilities {
    ClientCapabilities { write_only_attributes_allowed: true, ..ClientCapabilities::default() }
}
