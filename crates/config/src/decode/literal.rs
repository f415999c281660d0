//! Decoding of arguments that must be constant.

use std::collections::HashSet;

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_hcl::{Attribute, Expression, ExpressionKind, Name, ObjectItem};
use groma_lang::evaluate_constant;
use groma_value::{Type, Value, convert};

use super::context::Decoding;
use super::syntax;

/// Evaluates an expression without references and function calls. Strings in the JSON syntax are literal, not
/// templates.
pub(crate) fn constant(expression: &Expression) -> Result<Value, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let value = constant_text(expression, &mut diagnostics);
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(value) }
}

/// Evaluates like [`constant`], but adds problems to `diagnostics` and returns the value in any case.
pub(crate) fn constant_text(expression: &Expression, diagnostics: &mut Diagnostics) -> Value {
    // Checked first: without JSON strings, the evaluator takes the object for a native one, where the later key wins.
    report_duplicate_keys(expression, diagnostics);
    evaluate_constant(&without_templates(expression), diagnostics)
}

/// Reports duplicate keys of JSON objects, recursively.
fn report_duplicate_keys(expression: &Expression, diagnostics: &mut Diagnostics) {
    match &expression.kind {
        ExpressionKind::Tuple(elements) => {
            elements.iter().for_each(|element| report_duplicate_keys(element, diagnostics));
        }
        ExpressionKind::Object(items) => {
            let mut known = HashSet::new();
            for item in items.iter() {
                if let ExpressionKind::JsonString(key) = &item.key.kind
                    && !known.insert(&key.text)
                {
                    let detail =
                        format!("This object already has an attribute {:?}. Remove one of the two.", &*key.text);
                    diagnostics.push(Diagnostic::error("Duplicate object attribute", detail).at(item.key.span));
                }
                report_duplicate_keys(&item.value, diagnostics);
            }
        }
        _ => {}
    }
}

/// Replaces JSON strings by literal strings, so that template sequences in them are not evaluated.
fn without_templates(expression: &Expression) -> Expression {
    let kind = match &expression.kind {
        ExpressionKind::JsonString(string) => ExpressionKind::String(string.text.clone()),
        ExpressionKind::Tuple(elements) => ExpressionKind::Tuple(elements.iter().map(without_templates).collect()),
        ExpressionKind::Object(items) => {
            let item = |item: &ObjectItem| ObjectItem {
                key: without_templates(&item.key),
                value: without_templates(&item.value),
            };
            ExpressionKind::Object(items.iter().map(item).collect())
        }
        other => other.clone(),
    };
    Expression::new(kind, expression.span)
}

/// Evaluates like [`constant`], but strings in the JSON syntax are templates.
pub(crate) fn constant_template(expression: &Expression) -> Result<Value, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let value = evaluate_constant(expression, &mut diagnostics);
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(value) }
}

/// Decodes a string like [`string_or`], but strings in the JSON syntax are templates.
pub(super) fn template_or(attribute: &Attribute, summary: &'static str, decoding: &mut Decoding<'_>) -> Option<Name> {
    let expression = &attribute.expression;
    // The parser has reported the syntax error.
    if syntax::is_invalid(expression) {
        return None;
    }
    let text = converted(constant_template(expression), &Type::String, Wrong { expression, summary }, decoding)?;
    text.as_str().map(Name::from)
}

/// Decodes a string argument; null is an error.
pub(super) fn string(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<Name> {
    let text = text(attribute, UNSUITABLE, decoding)?;
    if text.is_none() {
        decoding.error(attribute.expression.span, UNSUITABLE, "The value must be a quoted string, not null.");
    }
    text
}

/// Decodes a string argument for which null means that it is not set; `summary` is the summary of a type error.
pub(super) fn string_or(attribute: &Attribute, summary: &'static str, decoding: &mut Decoding<'_>) -> Option<Name> {
    text(attribute, summary, decoding)?
}

/// Decodes a string: `Some(None)` for null, `None` after an error that has been reported.
fn text(attribute: &Attribute, summary: &'static str, decoding: &mut Decoding<'_>) -> Option<Option<Name>> {
    // Nearly all strings are literal, so they skip evaluation and conversion.
    if let Some(text) = attribute.expression.as_static_string() {
        return Some(Some(text));
    }
    Some(typed(&attribute.expression, &Type::String, summary, decoding)?.as_str().map(Name::from))
}

/// Decodes a boolean argument.
pub(super) fn boolean(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<bool> {
    let value = typed(&attribute.expression, &Type::Bool, UNSUITABLE, decoding)?;
    if value.is_null() {
        decoding.error(attribute.expression.span, UNSUITABLE, "The value must be true or false, not null.");
    }
    value.as_bool()
}

const UNSUITABLE: &str = "Unsuitable value type";

fn typed(expression: &Expression, ty: &Type, summary: &'static str, decoding: &mut Decoding<'_>) -> Option<Value> {
    if syntax::is_invalid(expression) {
        return None;
    }
    converted(constant(expression), ty, Wrong { expression, summary }, decoding)
}

/// The location and summary of a type error.
#[derive(Clone, Copy)]
struct Wrong<'a> {
    expression: &'a Expression,
    summary: &'static str,
}

fn converted(
    value: Result<Value, Diagnostics>,
    ty: &Type,
    wrong: Wrong<'_>,
    decoding: &mut Decoding<'_>,
) -> Option<Value> {
    let value = value.map_err(|diagnostics| decoding.diagnostics.append(diagnostics)).ok()?;
    let converted = convert::convert(&value, ty).map_err(|error| {
        let span = wrong.expression.start(decoding.sources);
        let detail = format!("The value has the wrong type: {}.", error.message);
        decoding.report(Diagnostic::error(wrong.summary, detail).at(span));
    });
    converted.ok()
}

/// Reports a constant expression that is not a boolean. Other expressions are checked when they are evaluated.
pub(super) fn check_boolean(expression: &Expression, decoding: &mut Decoding<'_>) {
    if constant_template(expression).is_ok() {
        typed(expression, &Type::Bool, UNSUITABLE, decoding);
    }
}
