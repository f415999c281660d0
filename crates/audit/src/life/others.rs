//! What is not managed: data sources, ephemeral resources, searches and actions.

use std::sync::{Arc, Mutex, PoisonError};

use groma_provider::contract::{check_compatible, check_planned, check_shape, check_unknowns, check_write_only};
use groma_provider::{
    CloseEphemeralRequest, InvokeActionRequest, ListDetail, ListRequest, ListWanted, Listed, OpenEphemeralRequest,
    PlanActionRequest, Private, ReadDataRequest, ReadDataResponse, RenewEphemeralRequest,
};
use groma_value::Value;

use super::later::with_unknowns;
use super::{End, Extent, Life, Stepped, capabilities};
use crate::kind::Kind;
use crate::rule::{Rule, Step, Weight};

/// So many objects are asked for in a search.
const WANTED: u64 = 5;

impl Life<'_> {
    /// A data source: read twice, which should find the same.
    pub(super) fn lead_data(&mut self, config: &Value) -> Stepped<()> {
        self.check_unknown_arguments(config)?;
        let first = self.read_data(config)?;
        if first.diagnostics.has_errors() {
            return Err(End::Refused(first.diagnostics));
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

    fn read_data(&mut self, config: &Value) -> Stepped<ReadDataResponse> {
        let request = ReadDataRequest {
            type_name: self.type_name.clone(),
            address: None,
            config: config.clone(),
            meta: Value::NULL,
            client_capabilities: capabilities(),
        };
        let answer = self.caller.call(|provider| provider.read_data(request), |response| &response.diagnostics);
        answer.map_err(|silence| self.silent(Step::Read, silence))
    }

    /// Whether what was read can be used at all.
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
            self.observe(Rule::Existence, Weight::Error, step, String::new(), "there is no object at all".into());
            return false;
        }
        self.note(&check_unknowns(state), Weight::Error, step, |_| Rule::Read);
        self.note(&check_write_only(block, state), Weight::Error, step, |_| Rule::WriteOnly);
        // No engine holds data sources to what is configured, but references to arguments surprise.
        let wrong = check_planned(block, &block.null_value(), config, state);
        self.note(&wrong, Weight::Advice, step, Rule::of_plan);
        true
    }

    /// An ephemeral resource: opened, renewed where it asks for that, and closed.
    pub(super) fn lead_ephemeral(&mut self, config: &Value) -> Stepped<()> {
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
        let opened = answer.map_err(|silence| self.silent(Step::Open, silence))?;
        if opened.diagnostics.has_errors() {
            return Err(End::Failed(opened.diagnostics));
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

    fn renew(&mut self, private: Private) -> Stepped<Private> {
        let request = RenewEphemeralRequest { type_name: self.type_name.clone(), private: Private::clone(&private) };
        let answer = self.caller.call(|provider| provider.renew_ephemeral(request), |response| &response.diagnostics);
        let renewed = answer.map_err(|silence| self.silent(Step::Renew, silence))?;
        if let Some(problem) = renewed.diagnostics.iter().find(|problem| problem.is_error()) {
            let message = format!("it asks to be renewed, and that fails: {}", problem.summary);
            self.observe(Rule::Lease, Weight::Error, Step::Renew, String::new(), message);
            return Ok(private);
        }
        Ok(renewed.private)
    }

    fn close(&mut self, private: Private) -> Stepped<()> {
        let request = CloseEphemeralRequest { type_name: self.type_name.clone(), private };
        let answer = self.caller.call(|provider| provider.close_ephemeral(request), |problems| problems);
        let problems = answer.map_err(|silence| self.silent(Step::Close, silence))?;
        if let Some(problem) = problems.iter().find(|problem| problem.is_error()) {
            let message = format!("what was just opened cannot be closed: {}", problem.summary);
            self.observe(Rule::Lease, Weight::Error, Step::Close, String::new(), message);
        }
        Ok(())
    }

    /// A search: what it finds can be told apart, and has the form of its resource type.
    pub(super) fn lead_list(&mut self, config: &Value) -> Stepped<()> {
        self.check_unknown_arguments(config)?;
        let found: Arc<Mutex<Vec<Listed>>> = Arc::default();
        let sink = Arc::clone(&found);
        let request = ListRequest {
            type_name: self.type_name.clone(),
            config: config.clone(),
            detail: ListDetail::Objects,
            limit: WANTED,
            found: Arc::new(move |listed| {
                let mut all = sink.lock().unwrap_or_else(PoisonError::into_inner);
                all.push(listed);
                if all.len() as u64 >= WANTED { ListWanted::Enough } else { ListWanted::More }
            }),
        };
        let answer = self.caller.call(|provider| provider.list_resource(request), |problems| problems);
        let problems = answer.map_err(|silence| self.silent(Step::Search, silence))?;
        if problems.has_errors() {
            return Err(End::Refused(problems));
        }
        let provider = Arc::clone(&self.caller.provider);
        let Ok(Some(listed_type)) = provider.resource_schema(&self.type_name) else {
            let message = "there is no resource type of that name".to_owned();
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
                let message = "an object was found that nothing identifies".to_owned();
                self.observe(Rule::Identity, Weight::Error, step, String::new(), message);
            }
            (Some(_), None) => {
                let message = "there is an identity, and the type has no schema for it".to_owned();
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
                let message = "the object was asked for, and only its identity was given".to_owned();
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

    /// An action: planned with and without unknown values, and invoked where lives are whole.
    pub(super) fn lead_action(&mut self, config: &Value) -> Stepped<()> {
        let problems = self.plan_action(config)?;
        if problems.has_errors() {
            return Err(End::Refused(problems));
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
        let problems = answer.map_err(|silence| self.silent(Step::Invoke, silence))?;
        if problems.has_errors() { Err(End::Failed(problems)) } else { Ok(()) }
    }

    fn plan_action(&mut self, config: &Value) -> Stepped<groma_provider::ProviderDiagnostics> {
        let request = PlanActionRequest {
            type_name: self.type_name.clone(),
            config: config.clone(),
            client_capabilities: capabilities(),
        };
        let answer = self.caller.call(|provider| provider.plan_action(request), |response| &response.diagnostics);
        let response = answer.map_err(|silence| self.silent(Step::PlanAction, silence))?;
        Ok(response.diagnostics)
    }

    /// LC-03: what is accepted when it is known is accepted while it is not.
    fn check_unknown_arguments(&mut self, config: &Value) -> Stepped<()> {
        let schema = self.schema.clone();
        for (place, open) in with_unknowns(&schema.block, config) {
            let mut step = Step::Validate;
            let mut problems = self.validated(&open)?;
            if !problems.has_errors() && self.kind == Kind::Action {
                step = Step::PlanAction;
                problems = self.plan_action(&open)?;
            }
            if let Some(problem) = problems.iter().find(|problem| problem.is_error()) {
                let message = format!("it is refused while it is not known yet: {}", problem.summary);
                self.observe(Rule::Unknown, Weight::Error, step, place, message);
            }
        }
        Ok(())
    }
}
