//! The value of an expression.
//!
//! Every problem is a diagnostic, and the evaluation continues with an unknown value, so that one pass finds more than the
//! first problem. A reported problem is not reported again by expressions that use its value.

mod access;
mod arguments;
mod arms;
mod call;
mod call_provider;
mod called;
mod construct;
mod observe;
mod operate;
mod repeat;
mod special;
mod splat;
mod template;
mod traverse;

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_hcl::{Call, Expression, ExpressionKind, Name, Step, with_stack};
use groma_value::{Number, Value};

use called::Called;
pub use observe::{observing, statement, traversal_text};

use crate::scope::{ChildScope, ConstantScope, Scope};

/// The deepest nesting of an evaluation, including templates that functions render. One text cannot reach it: see
/// [`MAX_NESTING`](groma_hcl::MAX_NESTING) and [`MAX_OPERATIONS`](groma_hcl::MAX_OPERATIONS).
pub(crate) const MAX_DEPTH: u32 = 50_000;

/// The deepest nesting of lists and objects in an expression. Deeper values have no form outside of the process.
const MAX_VALUE_DEPTH: usize = groma_value::MAX_DEPTH;

/// The value of `expression` in `scope`.
///
/// After an error the result is unknown, as far as the error reaches; it never panics, and expressions nested too deeply
/// are an error.
pub fn evaluate(expression: &Expression, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Value {
    Evaluator { scope, diagnostics, depth: scope.depth(), value_depth: 0, reporting: Reporting::Full }
        .evaluate(expression)
}

/// Evaluates the argument of a call of the function `type`, and reports its errors.
pub(crate) fn argument_of_type(
    call: &Call,
    whole: &Expression,
    scope: &dyn Scope,
    diagnostics: &mut Diagnostics,
) -> Option<Value> {
    Evaluator { scope, diagnostics, depth: scope.depth(), value_depth: 0, reporting: Reporting::Full }
        .argument_of_type(call, whole)
}

/// The value of an expression that may hold neither references nor function calls.
pub fn evaluate_constant(expression: &Expression, diagnostics: &mut Diagnostics) -> Value {
    evaluate(expression, &ConstantScope, diagnostics)
}

/// Applies `steps` to `value`.
///
/// # Errors
///
/// There is nothing at one of them, as far as can be known from the value.
pub fn follow(value: &Value, steps: &[Step]) -> Result<Value, Diagnostic> {
    steps.iter().try_fold(value.clone(), |value, step| access::step(&value, step))
}

/// The treatment of diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reporting {
    /// Diagnostics are shown: the values and function calls that contributed are added.
    Full,
    /// Whether there is an error matters, and at most what it says and where.
    Outcome,
}

struct Evaluator<'a> {
    scope: &'a dyn Scope,
    diagnostics: &'a mut Diagnostics,
    depth: u32,
    /// The number of lists and objects under construction around the current expression.
    value_depth: usize,
    reporting: Reporting,
}

impl Evaluator<'_> {
    fn evaluate(&mut self, expression: &Expression) -> Value {
        match &expression.kind {
            ExpressionKind::Invalid => Value::DYNAMIC,
            ExpressionKind::Null => Value::null(groma_value::Type::Dynamic),
            ExpressionKind::Bool(truth) => Value::bool(*truth),
            ExpressionKind::Number(digits) => self.number(digits, expression),
            ExpressionKind::String(text) => Value::string(text),
            ExpressionKind::Traversal(traversal) => self.traversal(traversal, expression),
            _ => {
                if self.depth >= MAX_DEPTH {
                    return self.too_deep(expression, "evaluation", MAX_DEPTH as usize);
                }
                self.depth += 1;
                let value = with_stack(|| self.compound(expression));
                self.depth -= 1;
                value
            }
        }
    }

    #[cold]
    fn too_deep(&mut self, expression: &Expression, what: &str, limit: usize) -> Value {
        let detail = format!("This {what} has more than {limit} levels. Write it with fewer.");
        self.report(Diagnostic::error("Expression nested too deeply", detail).at(expression.span));
        Value::DYNAMIC
    }

    /// Makes a list or an object with `make`, whose parts are one level deeper.
    fn constructed(&mut self, expression: &Expression, make: impl FnOnce(&mut Self) -> Value) -> Value {
        if self.value_depth >= MAX_VALUE_DEPTH {
            return self.too_deep(expression, "value", MAX_VALUE_DEPTH);
        }
        self.value_depth += 1;
        let value = make(self);
        self.value_depth -= 1;
        value
    }

    fn compound(&mut self, expression: &Expression) -> Value {
        match &expression.kind {
            ExpressionKind::Template(template) => self.template(template, expression.span),
            ExpressionKind::JsonString(string) => {
                self.diagnostics.append(string.diagnostics.clone());
                // What could not be read as a whole would only be misunderstood.
                if string.diagnostics.has_errors() { Value::DYNAMIC } else { self.evaluate(&string.template) }
            }
            ExpressionKind::Relative(relative) => self.relative(relative, expression),
            ExpressionKind::Index(index) => self.index(index, expression),
            ExpressionKind::Splat(splat) => self.splat(splat, expression),
            ExpressionKind::Call(call) => self.call(call, expression),
            ExpressionKind::Tuple(elements) => self.constructed(expression, |evaluator| evaluator.tuple(elements)),
            ExpressionKind::Object(items) => self.constructed(expression, |evaluator| evaluator.object(items)),
            ExpressionKind::For(comprehension) => {
                self.constructed(expression, |evaluator| evaluator.comprehension(comprehension, expression.span))
            }
            ExpressionKind::Conditional(conditional) => self.conditional(conditional, expression),
            ExpressionKind::Unary(unary) => self.unary(unary, expression),
            ExpressionKind::Binary(binary) => self.binary(binary, expression),
            ExpressionKind::Parentheses(inner) => self.evaluate(inner),
            _ => Value::DYNAMIC,
        }
    }

    fn number(&mut self, digits: &str, expression: &Expression) -> Value {
        match Number::parse(digits) {
            Ok(number) => Value::number(number),
            Err(_) => {
                self.report(
                    Diagnostic::error("Invalid number literal", "This is not a number that can be computed with.")
                        .at(expression.span),
                );
                Value::DYNAMIC
            }
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Reports with the values of the names in `expression`.
    fn report_about(&mut self, diagnostic: Diagnostic, expression: &Expression) {
        let diagnostic = self.with_observations(diagnostic, expression);
        self.report(diagnostic);
    }

    /// The problem of a call, with what was called.
    fn explained(&self, problem: Diagnostic, called: &Called<'_>) -> Diagnostic {
        match self.reporting {
            Reporting::Full => called.explain(problem),
            Reporting::Outcome => problem,
        }
    }

    fn with_observations(&self, diagnostic: Diagnostic, expression: &Expression) -> Diagnostic {
        match self.reporting {
            Reporting::Full => observing(diagnostic, expression, self.scope),
            Reporting::Outcome => diagnostic,
        }
    }

    /// The value and whether an error was reported on the way.
    fn attempt(&mut self, expression: &Expression) -> (Value, bool) {
        let before = self.diagnostics.len();
        let value = self.evaluate(expression);
        (value, observe::failed_since(self.diagnostics, before))
    }

    /// The value and its diagnostics apart from ours, for operands that may not count in the end.
    fn apart(&mut self, expression: &Expression) -> (Value, Diagnostics) {
        self.apart_reporting(self.reporting, expression)
    }

    fn apart_reporting(&mut self, reporting: Reporting, expression: &Expression) -> (Value, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let (depth, value_depth) = (self.depth, self.value_depth);
        let value = Evaluator { scope: self.scope, diagnostics: &mut diagnostics, depth, value_depth, reporting }
            .evaluate(expression);
        (value, diagnostics)
    }

    /// Evaluates in a scope with more names; `inside` may give them new values between evaluations.
    fn with_variables<T>(&mut self, names: Vec<(Name, Value)>, inside: impl FnOnce(&mut Nested<'_, '_>) -> T) -> T {
        let child = ChildScope::new(self.scope, names);
        let Self { depth, value_depth, reporting, .. } = *self;
        inside(&mut Nested { child, diagnostics: self.diagnostics, depth, value_depth, reporting })
    }
}

/// An evaluation in a scope whose variables change from turn to turn.
struct Nested<'s, 'd> {
    child: ChildScope<'s>,
    diagnostics: &'d mut Diagnostics,
    depth: u32,
    value_depth: usize,
    reporting: Reporting,
}

impl Nested<'_, '_> {
    fn evaluator(&mut self) -> Evaluator<'_> {
        let Self { depth, value_depth, reporting, .. } = *self;
        Evaluator { scope: &self.child, diagnostics: self.diagnostics, depth, value_depth, reporting }
    }

    /// Gives the variables new values, in the order in which they were named.
    fn bind(&mut self, key: Option<Value>, value: Value) {
        let position = usize::from(key.is_some());
        if let Some(key) = key {
            self.child.rebind(0, key);
        }
        self.child.rebind(position, value);
    }
}
