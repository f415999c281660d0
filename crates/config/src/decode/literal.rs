//! Arguments that the language wants constant.

use std::collections::HashSet;

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_hcl::{Attribute, Expression, ExpressionKind, Name, ObjectItem};
use groma_lang::evaluate_constant;
use groma_value::{Type, Value, convert};

use super::context::Decoding;
use super::syntax;

/// The value of an expression without references and function calls, where strings of the JSON syntax are just text.
pub(crate) fn constant(expression: &Expression) -> Result<Value, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let value = constant_text(expression, &mut diagnostics);
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(value) }
}

/// Evaluates a constant string; errors are added to `diagnostics`.
pub(crate) fn constant_text(expression: &Expression, diagnostics: &mut Diagnostics) -> Value {
    report_duplicate_keys(expression, diagnostics);
    evaluate_constant(&without_templates(expression), diagnostics)
}

/// In JSON an object has each key once.
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
                        format!("This object has an attribute {:?} already. Remove one of the two.", &*key.text);
                    diagnostics.push(Diagnostic::error("Duplicate object attribute", detail).at(item.key.span));
                }
                report_duplicate_keys(&item.value, diagnostics);
            }
        }
        _ => {}
    }
}

/// The expression with its JSON strings as they are, however much they look like templates.
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

/// As [`constant`], where strings of the JSON syntax are templates.
pub(crate) fn constant_template(expression: &Expression) -> Result<Value, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let value = evaluate_constant(expression, &mut diagnostics);
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(value) }
}

/// As [`string_or`], where strings of the JSON syntax are templates.
pub(super) fn template_or(attribute: &Attribute, summary: &'static str, decoding: &mut Decoding<'_>) -> Option<Name> {
    let expression = &attribute.expression;
    if syntax::is_invalid(expression) {
        return None;
    }
    let text = fitting(constant_template(expression), &Type::String, Wrong { expression, summary }, decoding)?;
    text.as_str().map(Name::from)
}

/// The text of a string argument, which null is not.
pub(super) fn string(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<Name> {
    let text = text(attribute, UNSUITABLE, decoding)?;
    if text.is_none() {
        decoding.error(attribute.expression.span, UNSUITABLE, "Write a string in quotes here; null is none.");
    }
    text
}

/// The text of an argument that counts as not written where it is null; `summary` says what is wrong with a value that is no text.
pub(super) fn string_or(attribute: &Attribute, summary: &'static str, decoding: &mut Decoding<'_>) -> Option<Name> {
    text(attribute, summary, decoding)?
}

/// Returns the string, or `Some(None)` for null; `None` after an error, which is reported.
fn text(attribute: &Attribute, summary: &'static str, decoding: &mut Decoding<'_>) -> Option<Option<Name>> {
    if let Some(text) = attribute.expression.as_static_string() {
        return Some(Some(text));
    }
    Some(typed(&attribute.expression, &Type::String, summary, decoding)?.as_str().map(Name::from))
}

/// The value of an argument that is true or false.
pub(super) fn boolean(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<bool> {
    let value = typed(&attribute.expression, &Type::Bool, UNSUITABLE, decoding)?;
    if value.is_null() {
        decoding.error(attribute.expression.span, UNSUITABLE, "Write true or false here; null is neither.");
    }
    value.as_bool()
}

const UNSUITABLE: &str = "Unsuitable value type";

fn typed(expression: &Expression, ty: &Type, summary: &'static str, decoding: &mut Decoding<'_>) -> Option<Value> {
    if syntax::is_invalid(expression) {
        return None;
    }
    fitting(constant(expression), ty, Wrong { expression, summary }, decoding)
}

/// The messages for an unsuitable value.
#[derive(Clone, Copy)]
struct Wrong<'a> {
    expression: &'a Expression,
    summary: &'static str,
}

fn fitting(
    value: Result<Value, Diagnostics>,
    ty: &Type,
    wrong: Wrong<'_>,
    decoding: &mut Decoding<'_>,
) -> Option<Value> {
    let value = value.map_err(|diagnostics| decoding.diagnostics.append(diagnostics)).ok()?;
    let fitting = convert::convert(&value, ty).map_err(|error| {
        let place = wrong.expression.start(decoding.sources);
        let detail = format!("This value does not fit: {}.", error.message);
        decoding.report(Diagnostic::error(wrong.summary, detail).at(place));
    });
    fitting.ok()
}

/// Reports an expression that is constant already and no truth value; others are for later.
pub(super) fn check_boolean(expression: &Expression, decoding: &mut Decoding<'_>) {
    if constant_template(expression).is_ok() {
        typed(expression, &Type::Bool, UNSUITABLE, decoding);
    }
}
