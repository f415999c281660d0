//! Lifecycles without a managed object: data sources, ephemeral resources, list queries and actions.

use std::sync::{Arc, Mutex, PoisonError};

use groma_provider::contract::{check_compatible, check_planned, check_shape, check_unknowns, check_write_only};
use groma_provider::{
    CloseEphemeralRequest, InvokeActionRequest, ListControl, ListDetail, ListRequest, Listed, OpenEphemeralRequest,
    PlanActionRequest, Private, ReadDataRequest, ReadDataResponse, RenewEphemeralRequest,
};
use groma_value::Value;

use super::after_create::with_unknowns;
use super::{Extent, Lifecycle, Outcome, StepResult, capabilities};
use crate::options::Kind;
use crate::rule::{Rule, Step, Weight};

/// The limit of a list query.
const LIST_LIMIT: u64 = 5;

impl Lifecycle<'_> {
    /// Reads a data source twice, which should give equal results.
    pub(super) fn run_data(&mut self, config: &Value) -> StepResult<()> {
        self.check_unknown_arguments(config)?;
        let first = self.read_data(config)?;
        if first.diagnostics.has_errors() {
            return Err(Outcome::Refused(first.diagnostics));
        }
        if first.deferred.is_some() || !self.check_data(config, &first.state) {
            return Ok(());
        }
        let second = self.read_data(config)?;
        if !second.diagnostics.has_errors() && second.deferred.is_none() {
            let schema = self.schema.clone();
            let wrong = check_compatible(&schema.block, &first.state, &second.state);
            self.note(&wrong, Weight::Advice, Step::Read, |_| Rule::Drift);
        }
        Ok(())
    }

    fn read_data(&mut self, config: &Value) -> StepResult<ReadDataResponse> {
        let request = ReadDataRequest {
            type_name: self.type_name.clone(),
            address: None,
            config: config.clone(),
            meta: Value::NULL,
            client_capabilities: capabilities(),
        };
        let answer = self.caller.call(|provider| provider.read_data(request), |response| &response.diagnostics);
        answer.map_err(|no_response| self.unresponsive(Step::Read, no_response))
    }

    /// Checks the result of a read; returns whether further checks make sense.
    fn check_data(&mut self, config: &Value, state: &Value) -> bool {
        let schema = self.schema.clone();
        let block = &schema.block;
        let step = Step::Read;
        let shape = check_shape(block.implied_type(), state);
        self.note(&shape, Weight::Error, step, |_| Rule::Shape);
        if !shape.is_empty() {
            return false;
        }
        if state.is_null() {
            self.observe(Rule::Existence, Weight::Error, step, String::new(), "returned no object".into());
            return false;
        }
        self.note(&check_unknowns(state), Weight::Error, step, |_| Rule::Read);
        self.note(&check_write_only(block, state), Weight::Error, step, |_| Rule::WriteOnly);
        // Terraform does not enforce this for data sources, but references to their arguments would be misleading.
        let wrong = check_planned(block, &block.null_value(), config, state);
        self.note(&wrong, Weight::Advice, step, Rule::of_plan);
        true
    }

    /// Opens an ephemeral resource, renews it if it requests that, and closes it.
    pub(super) fn run_ephemeral(&mut self, config: &Value) -> StepResult<()> {
        self.check_unknown_arguments(config)?;
        if self.extent == Extent::Plan {
            return Ok(());
        }
        let request = OpenEphemeralRequest {
            type_name: self.type_name.clone(),
            config: config.clone(),
            client_capabilities: capabilities(),
        };
        let answer = self.caller.call(|provider| provider.open_ephemeral(request), |response| &response.diagnostics);
        let opened = answer.map_err(|no_response| self.unresponsive(Step::Open, no_response))?;
        if opened.diagnostics.has_errors() {
            return Err(Outcome::Failed(opened.diagnostics));
        }
        if opened.deferred.is_some() {
            return Ok(());
        }
        let schema = self.schema.clone();
        let block = &schema.block;
        let shape = check_shape(block.implied_type(), &opened.result);
        self.note(&shape, Weight::Error, Step::Open, |_| Rule::Shape);
        if shape.is_empty() {
            let wrong = check_planned(block, &block.null_value(), config, &opened.result);
            self.note(&wrong, Weight::Error, Step::Open, Rule::of_plan);
            self.note(&check_unknowns(&opened.result), Weight::Error, Step::Open, |_| Rule::Read);
        }
        let private = if opened.renew_at.is_some() { self.renew(opened.private)? } else { opened.private };
        self.close(private)
    }

    fn renew(&mut self, private: Private) -> StepResult<Private> {
        let request = RenewEphemeralRequest { type_name: self.type_name.clone(), private: Private::clone(&private) };
        let answer = self.caller.call(|provider| provider.renew_ephemeral(request), |response| &response.diagnostics);
        let renewed = answer.map_err(|no_response| self.unresponsive(Step::Renew, no_response))?;
        if let Some(problem) = renewed.diagnostics.iter().find(|problem| problem.is_error()) {
            let message = format!("requested a renewal, which failed: {}", problem.summary);
            self.observe(Rule::Lease, Weight::Error, Step::Renew, String::new(), message);
            return Ok(private);
        }
        Ok(renewed.private)
    }

    fn close(&mut self, private: Private) -> StepResult<()> {
        let request = CloseEphemeralRequest { type_name: self.type_name.clone(), private };
        let answer = self.caller.call(|provider| provider.close_ephemeral(request), |problems| problems);
        let problems = answer.map_err(|no_response| self.unresponsive(Step::Close, no_response))?;
        if let Some(problem) = problems.iter().find(|problem| problem.is_error()) {
            let message = format!("closing the opened resource failed: {}", problem.summary);
            self.observe(Rule::Lease, Weight::Error, Step::Close, String::new(), message);
        }
        Ok(())
    }

    /// Runs a list query; its results must have identities and conform to the resource type.
    pub(super) fn run_list(&mut self, config: &Value) -> StepResult<()> {
        self.check_unknown_arguments(config)?;
        let found: Arc<Mutex<Vec<Listed>>> = Arc::default();
        let sink = Arc::clone(&found);
        let request = ListRequest {
            type_name: self.type_name.clone(),
            config: config.clone(),
            detail: ListDetail::Objects,
            limit: LIST_LIMIT,
            found: Arc::new(move |listed| {
                let mut all = sink.lock().unwrap_or_else(PoisonError::into_inner);
                all.push(listed);
                if all.len() as u64 >= LIST_LIMIT { ListControl::Stop } else { ListControl::Continue }
            }),
        };
        let answer = self.caller.call(|provider| provider.list_resource(request), |problems| problems);
        let problems = answer.map_err(|no_response| self.unresponsive(Step::Search, no_response))?;
        if problems.has_errors() {
            return Err(Outcome::Refused(problems));
        }
        let provider = Arc::clone(&self.caller.provider);
        let Ok(Some(listed_type)) = provider.resource_schema(&self.type_name) else {
            let message = "no resource type has that name".to_owned();
            self.observe(Rule::Schema, Weight::Error, Step::Schema, String::new(), message);
            return Ok(());
        };
        for listed in std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner)) {
            self.check_listed(&listed_type, &listed);
        }
        Ok(())
    }

    fn check_listed(&mut self, listed_type: &groma_provider::Schema, listed: &Listed) {
        let step = Step::Search;
        if listed.diagnostics.has_errors() {
            return;
        }
        match (listed.identity.as_ref().filter(|identity| !identity.is_null()), &listed_type.identity) {
            (None, _) => {
                let message = "returned an object without an identity".to_owned();
                self.observe(Rule::Identity, Weight::Error, step, String::new(), message);
            }
            (Some(_), None) => {
                let message = "returned an identity, but the type has no identity schema".to_owned();
                self.observe(Rule::Identity, Weight::Error, step, String::new(), message);
            }
            (Some(identity), Some(declared)) => {
                let mut wrong = check_shape(&declared.implied_type(), identity);
                if wrong.is_empty() {
                    wrong = check_unknowns(identity);
                }
                self.note(&wrong, Weight::Error, step, |_| Rule::Identity);
            }
        }
        match &listed.object {
            None => {
                let message = "the full object was requested, but only its identity was returned".to_owned();
                self.observe(Rule::Existence, Weight::Advice, step, String::new(), message);
            }
            Some(object) => {
                let mut wrong = check_shape(listed_type.block.implied_type(), object);
                self.note(&wrong, Weight::Error, step, |_| Rule::Shape);
                if wrong.is_empty() {
                    wrong = check_unknowns(object);
                    self.note(&wrong, Weight::Error, step, |_| Rule::Read);
                }
            }
        }
    }

    /// Plans an action with and without unknown values, and invokes it in full lifecycles.
    pub(super) fn run_action(&mut self, config: &Value) -> StepResult<()> {
        let problems = self.plan_action(config)?;
        if problems.has_errors() {
            return Err(Outcome::Refused(problems));
        }
        self.check_unknown_arguments(config)?;
        if self.extent == Extent::Plan {
            return Ok(());
        }
        let request = InvokeActionRequest {
            type_name: self.type_name.clone(),
            config: config.clone(),
            client_capabilities: capabilities(),
            progress: Arc::new(|_| ()),
        };
        let answer = self.caller.call(|provider| provider.invoke_action(request), |problems| problems);
        let problems = answer.map_err(|no_response| self.unresponsive(Step::Invoke, no_response))?;
        if problems.has_errors() { Err(Outcome::Failed(problems)) } else { Ok(()) }
    }

    fn plan_action(&mut self, config: &Value) -> StepResult<groma_provider::ProviderDiagnostics> {
        let request = PlanActionRequest {
            type_name: self.type_name.clone(),
            config: config.clone(),
            client_capabilities: capabilities(),
        };
        let answer = self.caller.call(|provider| provider.plan_action(request), |response| &response.diagnostics);
        let response = answer.map_err(|no_response| self.unresponsive(Step::PlanAction, no_response))?;
        Ok(response.diagnostics)
    }

    /// Checks that unknown values are accepted wherever known ones are (LC-03).
    fn check_unknown_arguments(&mut self, config: &Value) -> StepResult<()> {
        let schema = self.schema.clone();
        for (path, open) in with_unknowns(&schema.block, config) {
            let mut step = Step::Validate;
            let mut problems = self.validated(&open)?;
            if !problems.has_errors() && self.kind == Kind::Action {
                step = Step::PlanAction;
                problems = self.plan_action(&open)?;
            }
            if let Some(problem) = problems.iter().find(|problem| problem.is_error()) {
                let message = format!("rejected as an unknown value: {}", problem.summary);
                self.observe(Rule::Unknown, Weight::Error, step, path, message);
            }
        }
        Ok(())
    }
}
