//! Calls of functions that are not built in: provider-defined and unknown ones.

use groma_diagnostics::{Diagnostic, did_you_mean};
use groma_hcl::{Call, Expression};
use groma_value::{Marks, Value};

use super::Evaluator;
use super::arguments::{Argument, Expected, converted};
use super::called::{Called, unknown};
use super::observe::failed_since;
use crate::functions;
use crate::provider_functions::{
    NoFunction, ProviderFunctionName, ProviderFunctions, ProviderParameter, ProviderSignature,
};

impl Evaluator<'_> {
    /// A function that is not built in: one of a provider, or one that does not exist.
    pub(super) fn call_custom_function(&mut self, name: &str, call: &Call, whole: &Expression) -> Value {
        if let Some(name) = ProviderFunctionName::parse(name) {
            let scope = self.scope;
            return match &scope.functions().provider_functions {
                Some(functions) => self.call_provider(functions.as_ref(), name, call, whole),
                None => self.unknown_function(
                    format!("The functions of provider \"{}\" cannot be called here.", name.provider),
                    call,
                    whole,
                ),
            };
        }
        if !name.contains("::") {
            let meant = did_you_mean(name, functions::names());
            let detail = format!("There is no function named \"{name}\".{meant}");
            self.report(Diagnostic::error(unknown(call), detail).at(call.name.span).within(whole.span));
            return Value::DYNAMIC;
        }
        let detail = format!(
            "There is no function \"{name}\". Built-in functions have no namespace; the function of a provider is called as \
             provider::PROVIDER::FUNCTION, where PROVIDER is its local name."
        );
        self.unknown_function(detail, call, whole)
    }

    fn unknown_function(&mut self, detail: String, call: &Call, whole: &Expression) -> Value {
        self.report(Diagnostic::error("Unknown provider function", detail).at(call.name.span).within(whole.span));
        Value::DYNAMIC
    }

    fn call_provider(
        &mut self,
        functions: &dyn ProviderFunctions,
        name: ProviderFunctionName<'_>,
        call: &Call,
        whole: &Expression,
    ) -> Value {
        let function = match functions.find(&name) {
            Ok(function) => function,
            Err(NoFunction::Unknown(problem)) => return self.unknown_function(problem, call, whole),
            Err(NoFunction::Failed(problems)) => {
                // The same diagnostic as from other uses of the provider, so that it is reported once.
                problems.into_iter().for_each(|problem| self.report(problem));
                return Value::DYNAMIC;
            }
        };
        let signature = &function.signature;
        let before = self.diagnostics.len();
        let called = Called::provided(call, whole, signature);
        let Some(arguments) = self.arguments(&called) else { return Value::DYNAMIC };
        let missing = signature.parameters.get(arguments.len()).map(|parameter| parameter.name.as_str());
        let expected = Expected { count: signature.parameters.len(), variadic: signature.variadic.is_some(), missing };
        if !self.check_count(&arguments, &expected, &called) {
            return Value::DYNAMIC;
        }
        let prepared = self.prepared(&arguments, signature, &called);
        if failed_since(self.diagnostics, before) {
            return Value::DYNAMIC;
        }
        if prepared.unknown {
            return Value::unknown(signature.result.clone()).with_marks(&prepared.marks);
        }
        match function.call(&prepared.values) {
            Ok(value) => value.with_marks(&prepared.marks),
            Err(problem) => {
                let marks: Vec<(usize, Marks)> =
                    arguments.iter().map(|argument| argument.value.deep_marks()).enumerate().collect();
                let problem = problem.concealing(&marks);
                let parameter = problem.argument.and_then(|index| parameter(signature, index));
                self.failed_call(&problem, parameter.map(|found| found.name.as_str()), &arguments, &called);
                Value::DYNAMIC
            }
        }
    }

    fn prepared(&mut self, arguments: &[Argument<'_>], signature: &ProviderSignature, called: &Called<'_>) -> Prepared {
        let mut prepared = Prepared { values: Vec::new(), marks: Marks::NONE, unknown: false };
        for (index, argument) in arguments.iter().enumerate() {
            let Some(parameter) = parameter(signature, index) else { continue };
            let problem = match converted(&argument.value, &parameter.ty) {
                Ok(value) if value.is_null() && !parameter.nullable => "argument must not be null".to_owned(),
                Ok(value) => {
                    // The plugin protocol has no marks: providers see plain values, and the result takes on all marks.
                    prepared.marks = prepared.marks.union(&value.deep_marks());
                    prepared.unknown |= !value.is_wholly_known() && !parameter.allows_unknown;
                    prepared.values.push(value.unmark_deep().0);
                    continue;
                }
                Err(problem) => problem.to_string(),
            };
            self.invalid_argument(&parameter.name, &problem, argument, called);
        }
        prepared
    }
}

/// The arguments of a provider's function by the common rules.
struct Prepared {
    values: Vec<Value>,
    marks: Marks,
    unknown: bool,
}

fn parameter(signature: &ProviderSignature, index: usize) -> Option<&ProviderParameter> {
    signature.parameters.get(index).or(signature.variadic.as_ref())
}
