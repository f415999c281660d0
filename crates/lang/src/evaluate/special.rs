//! Calls of `try`, `can` and `convert`, whose arguments are expressions, not values.

use groma_diagnostics::{Diagnostics, Span};
use groma_hcl::{Call, Expression};
use groma_value::{Type, Value};

use super::arguments::{Argument, Expected};
use super::called::Called;
use super::observe::failed_since;
use super::{Evaluator, Reporting};
use crate::type_constraint::type_constraint;

impl Evaluator<'_> {
    /// Returns the arguments of a function that evaluates them itself: the expressions, and the values of a last argument with an
    /// ellipsis.
    fn unevaluated<'e>(&mut self, called: &Called<'e>) -> Option<(&'e [Expression], Vec<Value>)> {
        let call = called.call;
        match call.arguments().split_last().filter(|_| call.expansion.is_some()) {
            None => Some((call.arguments(), Vec::new())),
            Some((last, others)) => {
                let value = self.evaluate(last);
                Some((others, self.expanded(&Argument::alone(value, last), called)?))
            }
        }
    }

    /// `try`: the first argument without an error.
    pub(super) fn try_each(&mut self, call: &Call, whole: &Expression) -> Value {
        // Something unknown can still turn out to be an error, and then another argument would be the result.
        let outcome = |value: Value| {
            if value.is_wholly_known() { value } else { Value::DYNAMIC.with_marks(&value.deep_marks()) }
        };
        let called = Called::built_in(call, whole);
        let Some((expressions, values)) = self.unevaluated(&called) else { return Value::DYNAMIC };
        if expressions.is_empty() && values.is_empty() {
            self.error_in_call("at least one argument is required", &called);
            return Value::DYNAMIC;
        }
        let mut problems = Diagnostics::new();
        for expression in expressions {
            let (value, found) = self.apart_reporting(Reporting::Outcome, expression);
            if !found.has_errors() {
                return outcome(value);
            }
            problems.append(found);
        }
        if let Some(value) = values.into_iter().next() {
            return outcome(value);
        }
        let mut message = "no expression succeeded:\n".to_owned();
        for problem in problems.iter().filter(|problem| problem.is_error()) {
            let position_text = problem
                .subject
                .and_then(|span| self.position_text(span))
                .map_or_else(String::new, |position_text| format!(" (at {position_text})"));
            message.push_str(&format!("- {}{position_text}\n  {}\n", problem.summary, problem.detail));
        }
        message.push_str("\nAt least one expression must give a result without an error");
        self.error_in_call(&message, &called);
        Value::DYNAMIC
    }

    fn position_text(&self, span: Span) -> Option<String> {
        let location = self.scope.functions().sources.locate(span)?;
        Some(format!("{}:{},{}", location.file.name(), location.start.line, location.start.column))
    }

    /// `can`: whether the argument has no error.
    pub(super) fn can(&mut self, call: &Call, whole: &Expression) -> Value {
        // An unknown value may still turn out to be an error.
        let known =
            |value: &Value| if value.is_wholly_known() { Value::bool(true) } else { Value::unknown(Type::Bool) };
        let called = Called::built_in(call, whole);
        let Some((expressions, values)) = self.unevaluated(&called) else { return Value::DYNAMIC };
        if !self.check_unread(&called, expressions.len() + values.len(), &["expression"]) {
            return Value::DYNAMIC;
        }
        let Some(expression) = expressions.first() else {
            return values.first().map_or(Value::DYNAMIC, known);
        };
        // Only the outcome counts, so no values are collected for the messages.
        let (value, problems) = self.apart_reporting(Reporting::Outcome, expression);
        if problems.has_errors() { Value::bool(false) } else { known(&value) }
    }

    /// `convert`: the second argument is a type, not a value.
    pub(super) fn convert(&mut self, call: &Call, whole: &Expression) -> Value {
        let before = self.diagnostics.len();
        let called = Called::built_in(call, whole);
        let Some((expressions, values)) = self.unevaluated(&called) else { return Value::DYNAMIC };
        if failed_since(self.diagnostics, before)
            || !self.check_unread(&called, expressions.len() + values.len(), &["value", "type"])
        {
            return Value::DYNAMIC;
        }
        let Some(last) = call.arguments().last() else { return Value::DYNAMIC };
        // A value is not a type: an error about an expanded argument refers to the argument before the ellipsis.
        let type_expression = expressions.get(1).unwrap_or(last);
        let expression = expressions.first().unwrap_or(last);
        let (value, failed) = match (expressions.first(), values.into_iter().next()) {
            (None, Some(value)) => (value, false),
            _ => self.attempt(expression),
        };
        let before = self.diagnostics.len();
        let (constraint, problems) = type_constraint(type_expression);
        self.diagnostics.append(problems);
        if failed || failed_since(self.diagnostics, before) {
            return Value::DYNAMIC;
        }
        // As with other functions, marks within the argument are marks of the whole result.
        let marks = value.deep_marks();
        // What is not known yet is left alone, as by every function: only its type is said, not what else is known of it.
        if !value.is_known() {
            return Value::unknown(constraint.ty.without_optional_attributes()).with_marks(&marks);
        }
        match constraint.convert(&value.unmark_deep().0) {
            Ok(value) => value.with_marks(&marks),
            Err(problem) => {
                self.invalid_argument("value", &problem.to_string(), &Argument::alone(value, expression), &called);
                Value::DYNAMIC
            }
        }
    }

    /// Whether a call has as many arguments as the function has parameters.
    fn check_unread(&mut self, called: &Called<'_>, count: usize, names: &[&str]) -> bool {
        let call = called.call;
        // Values of an expansion have no expression of their own: errors point to the expanded argument.
        let own = call.arguments().iter();
        let more = call.arguments().last().into_iter().cycle();
        let unread = |expression| Argument::alone(Value::DYNAMIC, expression);
        let arguments: Vec<Argument<'_>> = own.chain(more).take(count).map(unread).collect();
        let expected = Expected { count: names.len(), variadic: false, missing: names.get(count).copied() };
        self.check_count(&arguments, &expected, called)
    }
}
