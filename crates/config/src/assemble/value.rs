//! Variables and outputs with all their parts together.

use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_hcl::Expression;
use groma_lang::TypeConstraint;
use groma_value::Value;

use crate::checks::discarded;
use crate::decode::{Dialect, OutputDraft, VariableDraft, constant};
use crate::model::{Output, Variable};

/// Checks the default of a variable as merged so far.
pub(super) fn default_problems(draft: &VariableDraft) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let constraint = draft.constraint.as_ref().unwrap_or(&TypeConstraint::ANY);
    let check = DefaultCheck { constraint, nullable: draft.nullable.unwrap_or(true), overridden: draft.overridden };
    if let Some(expression) = &draft.default {
        check.default(expression, &mut diagnostics);
    }
    diagnostics
}

/// Completes a variable: its default is evaluated and converted to its type.
pub(super) fn variable(draft: VariableDraft, diagnostics: &mut Diagnostics) -> Variable {
    let nullable = draft.nullable.unwrap_or(true);
    let has_type = draft.constraint.is_some();
    let mut constraint = draft.constraint.unwrap_or(TypeConstraint::ANY);
    let check = DefaultCheck { constraint: &constraint, nullable, overridden: draft.overridden };
    let default = match draft.default.as_ref().map(|expression| check.default(expression, diagnostics)) {
        // Which of the two is wrong is not known: nothing else is held against the type.
        Some(None) => {
            constraint = TypeConstraint::ANY;
            Some(Value::DYNAMIC)
        }
        default => default.flatten(),
    };
    if let (Dialect::OpenTofu, Some(expression)) = (draft.dialect, &draft.default) {
        discarded::attributes(expression, &constraint.ty, &format!("variable {:?}", draft.name), diagnostics);
    }
    let variable = Variable {
        name: draft.name,
        default,
        constraint,
        has_type,
        sensitive: draft.sensitive.unwrap_or_default(),
        ephemeral: draft.ephemeral.unwrap_or_default(),
        nullable,
        constant: draft.constant.unwrap_or_default(),
        description: draft.description,
        deprecated: draft.deprecated,
        deprecated_span: draft.deprecated_span,
        validations: draft.validations,
        span: draft.span,
    };
    // In OpenTofu a constant may be secret, where it shows nowhere.
    if draft.dialect == Dialect::Terraform {
        check_constant(&variable, diagnostics);
    }
    variable
}

/// A constant shows in module addresses.
fn check_constant(variable: &Variable, diagnostics: &mut Diagnostics) {
    let clashes = [("ephemeral", variable.ephemeral), ("sensitive", variable.sensitive)];
    for (word, _) in clashes.iter().filter(|(_, set)| *set && variable.constant) {
        diagnostics.push(
            Diagnostic::error(
                format!("Const variable cannot be {word}"),
                format!("The value of a constant variable is used before planning and shown there. Remove \"const\" or {word:?}."),
            )
            .at(variable.span),
        );
    }
}

/// The constraints on a default value.
struct DefaultCheck<'a> {
    constraint: &'a TypeConstraint,
    nullable: bool,
    overridden: Option<Span>,
}

impl DefaultCheck<'_> {
    /// The default; none where it does not fit. Where it has no value, it is an unknown one of the type, so that the variable is not
    /// missing too.
    fn default(&self, expression: &Expression, diagnostics: &mut Diagnostics) -> Option<Value> {
        let value = match constant(expression) {
            Ok(value) => value,
            Err(problems) => {
                diagnostics.append(problems);
                return Some(Value::unknown(self.constraint.ty.without_optional_attributes()));
            }
        };
        let converted = self.constraint.convert(&value);
        let problem = match &converted {
            _ if value.is_null() && !self.nullable => Some("null is no default where nullable = false".to_owned()),
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
        };
        if let Some(problem) = problem {
            diagnostics.push(
                Diagnostic::error(
                    "Invalid default value for variable",
                    format!("The default does not fit the variable's type: {problem}."),
                )
                .at(self.overridden.unwrap_or(expression.span)),
            );
        }
        converted.ok()
    }
}

/// Completes an output; one without a value has been reported.
pub(super) fn output(draft: OutputDraft) -> Option<Output> {
    Some(Output {
        name: draft.name,
        expression: draft.expression?,
        constraint: draft.constraint,
        sensitive: draft.sensitive.unwrap_or_default(),
        ephemeral: draft.ephemeral.unwrap_or_default(),
        description: draft.description,
        deprecated: draft.deprecated,
        deprecated_span: draft.deprecated_span,
        depends_on: draft.depends_on,
        preconditions: draft.preconditions,
        span: draft.span,
    })
}
