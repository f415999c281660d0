//! Function calls: finding the function, preparing the arguments, wording what went wrong.

use groma_diagnostics::{Diagnostic, Span, did_you_mean};
use groma_hcl::{Call, Expression};
use groma_value::{Marks, Type, Value, convert};

use super::Evaluator;
use super::called::{Called, bare};
use super::observe::failed_since;
use crate::context::Availability;
use crate::function_error::FunctionError;
use crate::functions::{self, CallSite, Function};
use crate::provider_functions::{
    NoFunction, ProviderFunctionName, ProviderFunctions, ProviderParameter, ProviderSignature,
};

/// An argument after evaluation, with the text it came from.
pub(super) struct Argument<'a> {
    pub(super) value: Value,
    pub(super) expression: &'a Expression,
    written: Written,
}

impl<'a> Argument<'a> {
    /// One that is an expression of its own.
    pub(super) const fn alone(value: Value, expression: &'a Expression) -> Self {
        Self { value, expression, written: Written::Alone }
    }
}

/// How an argument is written.
#[derive(Clone, Copy)]
enum Written {
    /// As an expression of its own.
    Alone,
    /// As one of those in a list, which is expanded with an ellipsis.
    Expanded,
}

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
            "try" => self.try_each(call, expression),
            "can" => self.can(call, expression),
            "convert" => self.convert(call, expression),
            "type" => {
                self.misplaced_type(call, expression);
                Value::DYNAMIC
            }
            _ => match functions::find(name) {
                Some(function) => self.call_function(function, call, expression),
                None => self.call_elsewhere(name, call, expression),
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
            let Some(parameter) = function.parameter(index) else { continue };
            match converted(&argument.value, &parameter.ty) {
                Ok(value) => values.push(value),
                Err(message) => self.invalid_argument(&parameter.name, &message, argument, &called),
            }
        }
        if failed_since(self.diagnostics, before) {
            return Value::DYNAMIC;
        }
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

    /// The arguments with the last one expanded. Nothing if the expansion failed or is not known.
    fn arguments<'e>(&mut self, called: &Called<'e>) -> Option<Vec<Argument<'e>>> {
        let call = called.call;
        let mut arguments = Vec::with_capacity(call.arguments().len());
        for expression in call.arguments() {
            arguments.push(Argument::alone(self.evaluate(expression), expression));
        }
        if call.expansion.is_some()
            && let Some(last) = arguments.pop()
        {
            let values = self.expanded(&last, called)?;
            let expression = last.expression;
            arguments.extend(values.into_iter().map(|value| Argument {
                value,
                expression,
                written: Written::Expanded,
            }));
        }
        Some(arguments)
    }

    /// The arguments that one with an ellipsis stands for. Nothing if they are not known, or it stands for none.
    pub(super) fn expanded(&mut self, argument: &Argument<'_>, called: &Called<'_>) -> Option<Vec<Value>> {
        let problem = match argument.value.ty() {
            _ if argument.value.is_null() => "must not be null",
            Type::Dynamic => return None,
            Type::List(_) | Type::Set(_) | Type::Tuple(_) => {
                let marks = argument.value.marks();
                let elements = argument.value.is_known().then(|| argument.value.elements())?;
                return Some(elements.map(|(_, value)| value.with_marks(marks)).collect());
            }
            _ => "must be of a tuple, list, or set type",
        };
        let detail = format!("The argument that is expanded with an ellipsis (...) {problem}.");
        let problem = Diagnostic::error("Invalid expanding argument value", detail).at(argument.expression.span);
        let problem = self.explained(problem, called);
        self.report_about(problem, argument.expression);
        None
    }

    pub(super) fn check_count(
        &mut self,
        arguments: &[Argument<'_>],
        expected: &Expected<'_>,
        called: &Called<'_>,
    ) -> bool {
        let name = &called.call.name.name;
        let problem = if let Some(missing) = expected.missing {
            let least = if expected.variadic { " at least" } else { "" };
            Diagnostic::error(
                "Not enough function arguments",
                format!(
                    "Function \"{name}\" expects{least} {}. Missing value for \"{missing}\".",
                    counted(expected.count)
                ),
            )
            .at(called.call.close)
        } else if let (false, Some(extra)) = (expected.variadic, arguments.get(expected.count)) {
            Diagnostic::error(
                "Too many function arguments",
                format!("Function \"{name}\" expects only {}.", counted(expected.count)),
            )
            .at(self.pointed_at(extra))
        } else {
            return true;
        };
        let problem = self.explained(problem, called);
        self.report(problem);
        false
    }

    /// What of an argument is pointed at: where it begins, which is where Terraform points.
    fn pointed_at(&self, argument: &Argument<'_>) -> Span {
        match argument.written {
            Written::Alone => argument.expression.start(&self.scope.functions().sources),
            Written::Expanded => argument.expression.span,
        }
    }

    pub(super) fn invalid_argument(
        &mut self,
        parameter: &str,
        message: &str,
        argument: &Argument<'_>,
        called: &Called<'_>,
    ) {
        let detail = format!("Invalid value for \"{parameter}\" parameter: {message}.");
        let subject = self.pointed_at(argument);
        let problem = Diagnostic::error("Invalid function argument", detail).at(subject);
        let problem = self.explained(problem, called);
        self.report_about(problem, argument.expression);
    }

    fn failed_call(
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

    /// A function that is not built in: one of a provider, or one that does not exist.
    fn call_elsewhere(&mut self, name: &str, call: &Call, whole: &Expression) -> Value {
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
                // As whoever else needs the provider tells it, so that it is told once.
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
                    prepared.marks = prepared.marks.union(&value.deep_marks());
                    prepared.unknown |= !value.is_wholly_known() && !parameter.allows_unknown;
                    prepared.values.push(value.unmark_deep().0);
                    continue;
                }
                Err(problem) => problem,
            };
            self.invalid_argument(&parameter.name, &problem, argument, called);
        }
        prepared
    }
}

/// How many arguments a function takes.
pub(super) struct Expected<'a> {
    pub(super) count: usize,
    pub(super) variadic: bool,
    /// The first parameter without an argument.
    pub(super) missing: Option<&'a str>,
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

fn counted(count: usize) -> String {
    if count == 1 { "1 argument".to_owned() } else { format!("{count} arguments") }
}

fn converted(value: &Value, ty: &Type) -> Result<Value, String> {
    if *ty == Type::Dynamic {
        return Ok(value.clone());
    }
    let converted = convert::convert(value, ty).map_err(|problem| problem.to_string())?;
    match (value.ty(), ty) {
        // A set that may turn out smaller becomes a list of which nothing is known, not even that its elements can be made what is wanted:
        // such a call is refused, as in Terraform.
        (Type::Set(given), Type::List(wanted))
            if value.is_known() && !converted.is_known() && !convert::type_conforms(&given, wanted) =>
        {
            Err(format!("{} required, but received {}", wanted.friendly_name(), given.friendly_name()))
        }
        _ => Ok(converted),
    }
}

/// The summary of a call of what there is not: whoever writes a namespace means the function of a provider.
fn unknown(call: &Call) -> &'static str {
    if call.name.name.contains("::") { "Unknown provider function" } else { "Call to unknown function" }
}
