//! The life of one object, from its configuration to its end, held to the rules on the way.

mod checks;
mod import;
mod later;
mod others;

use std::sync::Arc;

use groma_provider::{
    ApplyRequest, ApplyResponse, Block, ClientCapabilities, Name, PlanRequest, PlanResponse, Private,
    ProviderDiagnostics, ReadRequest, ReadResponse, Schema, UpgradeRequest, ValidateRequest, proposed_new_state,
};
use groma_value::{Value, json};

use crate::caller::{Caller, Silence};
use crate::kind::Kind;
use crate::rule::{Observation, Rule, Step, Weight};

/// How far a life goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// It is validated and planned: nothing is made.
    Plan,
    /// It is created, read, changed, imported and deleted.
    Whole,
}

/// How a life ended.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// The configuration, or its plan, was refused.
    Refused(ProviderDiagnostics),
    /// The object could not be made or changed.
    Failed(ProviderDiagnostics),
    /// It went as far as it should.
    Lived,
    /// The provider fell silent.
    Silent,
}

/// An object that is there.
#[derive(Clone)]
struct Object {
    state: Value,
    private: Private,
    identity: Option<Value>,
}

/// What a life is about.
#[derive(Clone)]
pub(crate) struct Subject {
    pub(crate) kind: Kind,
    pub(crate) type_name: Name,
    pub(crate) schema: Arc<Schema>,
}

/// What the life of one object is led with.
pub(crate) struct Life<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) kind: Kind,
    pub(crate) type_name: Name,
    pub(crate) schema: Arc<Schema>,
    pub(crate) extent: Extent,
    pub(crate) observations: Vec<Observation>,
}

/// What a step leads to: an end before the whole was done.
type Stepped<T> = Result<T, End>;

impl<'a> Life<'a> {
    pub(crate) fn new(caller: &'a Caller, what: &Subject, extent: Extent) -> Self {
        let Subject { kind, type_name, schema } = what.clone();
        Self { caller, kind, type_name, schema, extent, observations: Vec::new() }
    }

    fn block(&self) -> &Block {
        &self.schema.block
    }

    /// What there is before an object is made.
    fn nothing(&self) -> Object {
        Object { state: self.block().null_value(), private: Private::default(), identity: None }
    }

    fn observe(&mut self, rule: Rule, weight: Weight, step: Step, place: String, message: String) {
        let observation = Observation { rule, weight, step, place, message };
        if !self.observations.contains(&observation) {
            self.observations.push(observation);
        }
    }

    /// Leads a life with the configuration `config`, and with `changed` later on.
    pub(crate) fn lead(&mut self, config: &Value, changed: Option<&Value>) -> End {
        match self.try_lead(config, changed) {
            Ok(()) => End::Lived,
            Err(end) => end,
        }
    }

    fn try_lead(&mut self, config: &Value, changed: Option<&Value>) -> Stepped<()> {
        self.validate(config)?;
        match self.kind {
            Kind::Resource => self.lead_managed(config, changed),
            Kind::DataSource => self.lead_data(config),
            Kind::EphemeralResource => self.lead_ephemeral(config),
            Kind::List => self.lead_list(config),
            Kind::Action => self.lead_action(config),
            // Functions have calls, and no lives.
            Kind::Function => Ok(()),
        }
    }

    fn lead_managed(&mut self, config: &Value, changed: Option<&Value>) -> Stepped<()> {
        let nothing = self.nothing();
        let planned = self.plan(Step::Plan, &nothing, config)?;
        if planned.deferred.is_some() {
            return Ok(());
        }
        self.check_unknown_values(&nothing, config, &planned)?;
        if self.extent == Extent::Plan {
            return Ok(());
        }
        let mut alive = None;
        let made = self.apply(Step::Create, &mut alive, config, planned);
        let result = made.and_then(|()| self.live(&mut alive, config, changed));
        // What was made goes away again, whatever happened.
        if !matches!(result, Err(End::Silent))
            && let Some(object) = alive
        {
            self.delete(&object)?;
        }
        result
    }

    /// Everything between birth and death.
    fn live(&mut self, alive: &mut Option<Object>, config: &Value, changed: Option<&Value>) -> Stepped<()> {
        let Some(object) = alive.clone() else { return Ok(()) };
        let object = self.read_back(&object)?;
        self.plan_again(&object, config)?;
        self.upgrade(&object)?;
        self.import(&object)?;
        if let Some(changed) = changed {
            self.change(alive, changed)?;
        }
        Ok(())
    }

    fn silent(&mut self, step: Step, silence: Silence) -> End {
        self.observe(Rule::Answer, Weight::Error, step, String::new(), silence);
        End::Silent
    }

    pub(crate) fn validate(&mut self, config: &Value) -> Stepped<()> {
        let problems = self.validated(config)?;
        if problems.has_errors() { Err(End::Refused(problems)) } else { Ok(()) }
    }

    fn validated(&mut self, config: &Value) -> Stepped<ProviderDiagnostics> {
        let request = ValidateRequest {
            type_name: self.type_name.clone(),
            config: config.clone(),
            client_capabilities: capabilities(),
        };
        let kind = self.kind;
        let check = |provider: &'a dyn groma_provider::Provider| match kind {
            Kind::Resource | Kind::Function => provider.validate_resource(request),
            Kind::DataSource => provider.validate_data(request),
            Kind::EphemeralResource => provider.validate_ephemeral(request),
            Kind::List => provider.validate_list(request),
            Kind::Action => provider.validate_action(request),
        };
        let answer = self.caller.call(check, |problems| problems);
        answer.map_err(|silence| self.silent(Step::Validate, silence))
    }

    /// A plan that keeps the rules as far as it must to be applied.
    fn plan(&mut self, step: Step, object: &Object, config: &Value) -> Stepped<PlanResponse> {
        let response = self.planned(step, object, config)?;
        if response.diagnostics.has_errors() {
            return Err(End::Refused(response.diagnostics));
        }
        self.check_plan(step, object, config, &response)?;
        Ok(response)
    }

    fn planned(&mut self, step: Step, object: &Object, config: &Value) -> Stepped<PlanResponse> {
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
        answer.map_err(|silence| self.silent(step, silence))
    }

    /// Makes a planned change of what is `alive`, which then is what there is, half made or not.
    fn apply(&mut self, step: Step, alive: &mut Option<Object>, config: &Value, planned: PlanResponse) -> Stepped<()> {
        let before = alive.clone().unwrap_or_else(|| self.nothing());
        let plan = planned.planned_state.clone();
        let response = self.applied(step, &before, config, planned)?;
        let state = self.check_result(step, &plan, &response);
        let done = state.is_some() && !response.diagnostics.has_errors();
        if let Some(state) = state {
            *alive = Some(Object { state, private: response.private, identity: response.new_identity });
        }
        if done { Ok(()) } else { Err(End::Failed(response.diagnostics)) }
    }

    fn applied(
        &mut self,
        step: Step,
        object: &Object,
        config: &Value,
        planned: PlanResponse,
    ) -> Stepped<ApplyResponse> {
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
        answer.map_err(|silence| self.silent(step, silence))
    }

    fn read(&mut self, step: Step, object: &Object) -> Stepped<ReadResponse> {
        let request = ReadRequest {
            type_name: self.type_name.clone(),
            current_state: object.state.clone(),
            private: object.private.clone(),
            meta: Value::NULL,
            client_capabilities: capabilities(),
            current_identity: object.identity.clone(),
        };
        let answer = self.caller.call(|provider| provider.read_resource(request), |response| &response.diagnostics);
        answer.map_err(|silence| self.silent(step, silence))
    }

    /// The stored form of the object, upgraded although it is of today's shape (LC-19).
    fn upgrade(&mut self, object: &Object) -> Stepped<()> {
        let Ok(raw) = json::to_json(&object.state, self.block().implied_type()) else { return Ok(()) };
        let Ok(raw_state) = String::from_utf8(raw) else { return Ok(()) };
        let request = UpgradeRequest {
            type_name: self.type_name.clone(),
            version: self.schema.version,
            raw_state: raw_state.into(),
        };
        let answer = self.caller.call(|provider| provider.upgrade_resource(request), |response| &response.diagnostics);
        let response = answer.map_err(|silence| self.silent(Step::Upgrade, silence))?;
        self.check_upgrade(object, &response);
        Ok(())
    }

    /// Deletes the object, as far as the provider can.
    fn delete(&mut self, object: &Object) -> Stepped<()> {
        let null = self.block().null_value();
        let declared = self.caller.provider.schema();
        let asked = declared.is_ok_and(|declared| declared.capabilities.plan_destroy);
        let planned = if asked {
            let planned = self.planned(Step::PlanDelete, object, &null)?;
            if planned.diagnostics.has_errors() {
                return Err(End::Failed(planned.diagnostics));
            }
            self.check_planned_deletion(&planned);
            PlanResponse { planned_state: null.clone(), ..planned }
        } else {
            PlanResponse::new(null.clone(), object.private.clone())
        };
        let response = self.applied(Step::Delete, object, &null, planned)?;
        if response.diagnostics.has_errors() {
            return Err(End::Failed(response.diagnostics));
        }
        self.check_deleted(&response);
        Ok(())
    }
}

fn capabilities() -> ClientCapabilities {
    ClientCapabilities { write_only_attributes_allowed: true, ..ClientCapabilities::default() }
}
