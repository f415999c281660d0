//! Function calls: finding the function, calling it, wording what went wrong.

use groma_diagnostics::Diagnostic;
use groma_hcl::{Call, Expression};
use groma_value::Value;

use super::Evaluator;
use super::arguments::{Argument, Expected, converted};
use super::called::{Called, bare, unknown};
use super::observe::failed_since;
use crate::context::Availability;
use crate::functions::{self, CallSite, Function};
use crate::provider_functions::FunctionError;

impl Evaluator<'_> {
    pub(super) fn call(&mut self, call: &Call, expression: &Expression) -> Value {
        let availability = self.scope.functions().availability;
        if availability == Availability::None {
            self.report(
                Diagnostic::error("Function calls not allowed", "Functions may not be called here.")
                    .at(expression.span),
            );
            return Value::DYNAMIC;
        }
        let name = bare(&call.name.name);
        match name {
            // These functions evaluate their arguments themselves: an error, or a type, must not become a value first.
            "try" => self.try_each(call, expression),
            "can" => self.can(call, expression),
            "convert" => self.convert(call, expression),
            "type" => {
                self.misplaced_type(call, expression);
                Value::DYNAMIC
            }
            _ => match functions::find(name) {
                Some(function) => self.call_function(function, call, expression),
                None => self.call_custom_function(name, call, expression),
            },
        }
    }

    /// The argument of `type`, which only the console has.
    pub(super) fn argument_of_type(&mut self, call: &Call, whole: &Expression) -> Option<Value> {
        let called = Called::built_in(call, whole);
        let arguments = self.arguments(&called)?;
        let missing = arguments.is_empty().then_some("value");
        let is_one = self.check_count(&arguments, &Expected { count: 1, variadic: false, missing }, &called);
        arguments.into_iter().next().filter(|_| is_one).map(|argument| argument.value)
    }

    fn misplaced_type(&mut self, call: &Call, whole: &Expression) {
        let summary = match self.scope.functions().availability {
            Availability::Console => {
                let before = self.diagnostics.len();
                self.argument_of_type(call, whole);
                if failed_since(self.diagnostics, before) {
                    // The errors of the argument come first: the misuse is only worth reporting without them.
                    return;
                }
                "Invalid use of type function"
            }
            _ => unknown(call),
        };
        let detail = "The function \"type\" is only for the console, where it must stand alone: it gives a description of a type, not a \
                      value.";
        self.report(Diagnostic::error(summary, detail).at(call.name.span).within(whole.span));
    }

    fn call_function(&mut self, function: &Function, call: &Call, expression: &Expression) -> Value {
        let before = self.diagnostics.len();
        let called = Called::built_in(call, expression);
        let Some(arguments) = self.arguments(&called) else { return Value::DYNAMIC };
        let variadic = function.variadic.is_some();
        let missing = function.parameters.get(arguments.len()).map(|parameter| parameter.name.as_str());
        let expected = Expected { count: function.parameters.len(), variadic, missing };
        if !self.check_count(&arguments, &expected, &called) {
            return Value::DYNAMIC;
        }
        let mut values = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.iter().enumerate() {
            // Unreachable after `check_count`: each argument has a parameter by now.
            let Some(parameter) = function.parameter(index) else { continue };
            match converted(&argument.value, &parameter.ty) {
                Ok(value) => values.push(value),
                Err(problem) => self.invalid_argument(&parameter.name, &problem.to_string(), argument, &called),
            }
        }
        // All arguments are converted before giving up, so that each wrong one is reported.
        if failed_since(self.diagnostics, before) {
            return Value::DYNAMIC;
        }
        // Functions such as templatefile evaluate expressions themselves, and their depth adds to this one.
        let site = CallSite { scope: self.scope, depth: self.depth, evaluate: super::evaluate };
        match function.call(values, site) {
            Ok(value) => value,
            Err(problem) => {
                let parameter =
                    problem.argument.and_then(|index| function.parameter(index)).map(|found| found.name.as_str());
                self.failed_call(&problem, parameter, &arguments, &called);
                Value::DYNAMIC
            }
        }
    }

    pub(super) fn failed_call(
        &mut self,
        problem: &FunctionError,
        parameter: Option<&str>,
        arguments: &[Argument<'_>],
        called: &Called<'_>,
    ) {
        let argument = problem.argument.and_then(|index| arguments.get(index));
        match (parameter, argument) {
            (Some(parameter), Some(argument)) => {
                self.invalid_argument(parameter, &problem.message, argument, called);
            }
            _ => self.error_in_call(&problem.message, called),
        }
    }

    pub(super) fn error_in_call(&mut self, message: &str, called: &Called<'_>) {
        let name = &called.call.name;
        let detail = format!("Call to function \"{}\" failed: {message}.", name.name);
        let problem = Diagnostic::error("Error in function call", detail).at(name.span.to(called.call.open));
        let problem = self.explained(problem, called);
        self.report_about(problem, called.whole);
    }
}
