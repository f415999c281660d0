//! The arguments of a function call: as many as the function takes, each as its parameter wants it.

use groma_diagnostics::{Diagnostic, Span};
use groma_hcl::Expression;
use groma_value::convert::{self, ConversionError};
use groma_value::{Type, Value};
use thiserror::Error;

use super::Evaluator;
use super::called::Called;
use super::observe::failed_since;

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

/// The notation of an argument.
#[derive(Clone, Copy)]
enum Written {
    /// As an expression of its own.
    Alone,
    /// As one of those in a list, which is expanded with an ellipsis.
    Expanded,
}

/// The number of arguments of a function.
pub(super) struct Expected<'a> {
    pub(super) count: usize,
    pub(super) variadic: bool,
    /// The first parameter without an argument.
    pub(super) missing: Option<&'a str>,
}

impl Evaluator<'_> {
    /// The arguments with the last one expanded. Nothing if the expansion failed or is not known.
    pub(super) fn arguments<'e>(&mut self, called: &Called<'e>) -> Option<Vec<Argument<'e>>> {
        let call = called.call;
        let mut arguments = Vec::with_capacity(call.arguments().len());
        let mut before_last = self.diagnostics.len();
        for expression in call.arguments() {
            before_last = self.diagnostics.len();
            arguments.push(Argument::alone(self.evaluate(expression), expression));
        }
        if call.expansion.is_some() && failed_since(self.diagnostics, before_last) {
            // The value that replaces it has no elements to expand.
            return None;
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

    /// Expands an argument with an ellipsis; `None` if its elements are unknown, or it has none.
    pub(super) fn expanded(&mut self, argument: &Argument<'_>, called: &Called<'_>) -> Option<Vec<Value>> {
        let problem = match argument.value.ty() {
            _ if argument.value.is_null() => "must not be null",
            Type::Dynamic => return None,
            Type::List(_) | Type::Set(_) | Type::Tuple(_) => {
                // Elements take on the marks of the collection that is expanded.
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

    /// Returns the span to report for an argument: its start, as in Terraform.
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
}

fn counted(count: usize) -> String {
    if count == 1 { "1 argument".to_owned() } else { format!("{count} arguments") }
}

/// The reason why a value does not suit a parameter.
#[derive(Clone, Debug, PartialEq, Error)]
pub(super) enum ArgumentError {
    #[error(transparent)]
    Conversion(#[from] ConversionError),
    #[error("{wanted} required, but received {given}")]
    Wrong { wanted: String, given: String },
}

/// A value as a parameter of type `ty` wants it.
pub(super) fn converted(value: &Value, ty: &Type) -> Result<Value, ArgumentError> {
    if *ty == Type::Dynamic {
        return Ok(value.clone());
    }
    let converted = convert::convert(value, ty)?;
    match (value.ty(), ty) {
        // A set that may turn out smaller becomes a list of which nothing is known, not even that its elements convert to the parameter
        // type:
        // such a call is refused, as in Terraform.
        (Type::Set(given), Type::List(wanted))
            if value.is_known() && !converted.is_known() && !given.conforms_to(wanted) =>
        {
            Err(ArgumentError::Wrong { wanted: wanted.friendly_name(), given: given.friendly_name() })
        }
        _ => Ok(converted),
    }
}
