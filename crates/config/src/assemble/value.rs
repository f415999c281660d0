//! Variables and outputs with all their parts together.

use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_hcl::Expression;
use groma_lang::TypeConstraint;
use groma_value::Value;

use crate::decode::{OutputDraft, VariableDraft, constant};
use crate::model::{Output, Variable};

/// Completes a variable: its default is evaluated and converted to its type.
pub(super) fn variable(draft: VariableDraft, diagnostics: &mut Diagnostics) -> Variable {
    let nullable = draft.nullable.unwrap_or(true);
    let has_type = draft.constraint.is_some();
    let constraint = draft.constraint.unwrap_or(TypeConstraint::ANY);
    let default = draft.default.as_ref().map(|expression| default(expression, &constraint, nullable, diagnostics));
    Variable {
        name: draft.name,
        constraint,
        has_type,
        default,
        sensitive: draft.sensitive.unwrap_or_default(),
        ephemeral: draft.ephemeral.unwrap_or_default(),
        nullable,
        constant: draft.constant.unwrap_or_default(),
        description: draft.description,
        deprecated: draft.deprecated,
        validations: draft.validations,
        span: draft.span,
    }
}

/// The default of a variable; after an error an unknown value of the type, so that the variable is not missing too.
fn default(
    expression: &Expression,
    constraint: &TypeConstraint,
    nullable: bool,
    diagnostics: &mut Diagnostics,
) -> Value {
    let value = match constant(expression) {
        Ok(value) => value,
        Err(problems) => {
            diagnostics.append(problems);
            return Value::unknown(constraint.ty.clone());
        }
    };
    if value.is_null() && !nullable {
        invalid_default(expression.span, "null is no default where nullable = false".to_owned(), diagnostics);
    }
    match constraint.convert(&value) {
        Ok(value) => value,
        Err(error) => {
            invalid_default(expression.span, error.to_string(), diagnostics);
            Value::unknown(constraint.ty.clone())
        }
    }
}

fn invalid_default(span: Span, problem: String, diagnostics: &mut Diagnostics) {
    diagnostics.push(
        Diagnostic::error(
            "Invalid default value for variable",
            format!("The default does not fit the variable's type: {problem}."),
        )
        .at(span),
    );
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
        depends_on: draft.depends_on,
        preconditions: draft.preconditions,
        span: draft.span,
    })
}
