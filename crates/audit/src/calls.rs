//! Audit of functions: each call with generated arguments is made twice.

use std::sync::Arc;
use std::time::Duration;

use groma_provider::contract::{Secrets, check_shape, check_unknowns};
use groma_provider::{
    Answer, CallFate, CallFunctionRequest, FunctionError, FunctionSignature, Name, Parameter, Provider,
    ProviderDiagnostic, ProviderDiagnostics,
};
use groma_value::Value;

use crate::generate::Generator;
use crate::rule::{Observation, Rule, Step, Weight};

/// The outcome of a function call.
pub(crate) enum CallOutcome {
    /// The function returned a result.
    Returned,
    /// The function rejected the arguments.
    Refused(String),
    /// The provider did not respond.
    Unresponsive,
}

/// Generates the arguments of one call: one per parameter, plus up to two variadic ones.
pub(crate) fn arguments(signature: &FunctionSignature, generator: &mut Generator) -> Vec<Value> {
    let further = if signature.variadic.is_some() { generator.below(3) } else { 0 };
    let parameters = signature.parameters.iter().chain(signature.variadic.iter().cycle().take(further));
    let argument = |parameter: &Parameter| {
        if parameter.allow_null && generator.below(5) == 0 {
            Value::null(parameter.ty.clone())
        } else {
            generator.argument(&parameter.name, &parameter.ty)
        }
    };
    parameters.map(argument).collect()
}

/// Calls the function twice with `arguments`, and again with an unknown argument if the signature allows one.
pub(crate) fn call(
    caller: &Caller,
    name: &Name,
    signature: &Arc<FunctionSignature>,
    arguments: &[Value],
) -> (CallOutcome, Vec<Observation>) {
    let mut trial = Trial { caller, name, signature, observations: Vec::new() };
    let called = trial.run(arguments).unwrap_or_else(|no_response| {
        trial.observe(Rule::Answer, String::new(), no_response);
        CallOutcome::Unresponsive
    });
    (called, trial.observations)
}

struct Trial<'a> {
    caller: &'a Caller,
    name: &'a Name,
    signature: &'a Arc<FunctionSignature>,
    observations: Vec<Observation>,
}

impl Trial<'_> {
    fn run(&mut self, arguments: &[Value]) -> Result<CallOutcome, NoResponse> {
        let first = match self.once(arguments)? {
            Ok(value) => value,
            Err(problem) => return Ok(CallOutcome::Refused(problem.text)),
        };
        let shape = check_shape(&self.signature.return_type, &first);
        let wrong = if shape.is_empty() { check_unknowns(&first) } else { Vec::new() };
        for (rule, violations) in [(Rule::Shape, &shape), (Rule::Known, &wrong)] {
            for violation in violations {
                self.observe(rule, violation.location(), violation.message(Secrets::NONE));
            }
        }
        match self.once(arguments)? {
            Ok(second) if second == first => {}
            Ok(_) => self.observe(Rule::Pure, String::new(), "a repeated call returned a different result".to_owned()),
            Err(problem) => {
                self.observe(Rule::Pure, String::new(), format!("a repeated call failed: {}", problem.text));
            }
        }
        self.with_unknown(arguments)?;
        Ok(CallOutcome::Returned)
    }

    fn with_unknown(&mut self, arguments: &[Value]) -> Result<(), NoResponse> {
        let takes = self.signature.parameters.iter().position(|parameter| parameter.allow_unknown);
        let Some((at, parameter)) = takes.and_then(|at| Some((at, self.signature.parameters.get(at)?))) else {
            return Ok(());
        };
        let mut open = arguments.to_vec();
        if let Some(argument) = open.get_mut(at) {
            *argument = Value::unknown(parameter.ty.clone());
        }
        match self.once(&open)? {
            Err(problem) => {
                let message = format!(
                    "rejected as an unknown value, although the signature allows unknown values: {}",
                    problem.text
                );
                self.observe(Rule::Unknown, parameter.name.to_string(), message);
            }
            Ok(value) => {
                for violation in check_shape(&self.signature.return_type, &value) {
                    self.observe(Rule::Shape, violation.location(), violation.message(Secrets::NONE));
                }
            }
        }
        Ok(())
    }

    fn once(&self, arguments: &[Value]) -> Result<Result<Value, FunctionError>, NoResponse> {
        let request = CallFunctionRequest {
            name: self.name.clone(),
            signature: Arc::clone(self.signature),
            arguments: arguments.to_vec(),
        };
        // Functions report errors without diagnostics.
        let (result, _) = self.caller.call(
            |provider| provider.call_function(request).map(|result| (result, ProviderDiagnostics::new())),
            |(_, problems)| problems,
        )?;
        match result {
            Err(problem) if is_function_no_response(&problem) => Err(problem.text),
            result => Ok(result),
        }
    }

    fn observe(&mut self, rule: Rule, path: String, message: String) {
        let observation = Observation { rule, weight: Weight::Error, step: Step::Call, path, message };
        if !self.observations.contains(&observation) {
            self.observations.push(observation);
        }
    }
}

/// The reason why a call got no response.
pub(crate) type NoResponse = String;

/// A provider whose calls are limited in time.
pub(crate) struct Caller {
    pub(crate) provider: Arc<dyn Provider>,
    runtime: Arc<tokio::runtime::Runtime>,
    call_timeout: Duration,
}

impl Caller {
    pub(crate) fn new(
        provider: Arc<dyn Provider>,
        runtime: Arc<tokio::runtime::Runtime>,
        call_timeout: Duration,
    ) -> Self {
        Self { provider, runtime, call_timeout }
    }

    /// Makes a call; an error if the response does not arrive in time or the provider died.
    pub(crate) fn call<'a, T: Unpin + Send>(
        &'a self,
        call: impl FnOnce(&'a dyn Provider) -> Answer<'a, T>,
        diagnostics: impl FnOnce(&T) -> &ProviderDiagnostics,
    ) -> Result<T, NoResponse> {
        let _guard = self.runtime.enter();
        let answer = call(&*self.provider);
        let limited = async { tokio::time::timeout(self.call_timeout, answer).await };
        let response = self
            .runtime
            .block_on(limited)
            .map_err(|_| format!("no response within {} seconds", self.call_timeout.as_secs()))?;
        match diagnostics(&response).iter().find(|problem| is_no_response(problem)) {
            Some(problem) => Err(first_lines(&problem.detail)),
            None => Ok(response),
        }
    }
}

/// Whether a diagnostic reports that the provider did not survive a call: its process ended, or its code panicked.
fn is_no_response(problem: &ProviderDiagnostic) -> bool {
    problem.fate != CallFate::Answered
}

/// Whether the error of a function reports that the provider did not survive the call.
pub(crate) fn is_function_no_response(error: &FunctionError) -> bool {
    error.fate != CallFate::Answered
}

/// Omits a stack trace after the first lines, which is useful only with the provider's source.
fn first_lines(detail: &str) -> String {
    detail.lines().filter(|line| !line.trim().is_empty()).take(4).collect::<Vec<_>>().join(" ")
}
