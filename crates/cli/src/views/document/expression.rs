//! Expressions in documents: their constant value, or what they refer to.

use std::collections::BTreeMap;

use groma_diagnostics::Diagnostics;
use groma_hcl::{Expression, ExpressionKind, LiteralKey, ObjectItem, Step};
use groma_lang::{Reference, Referenced, evaluate_constant, references};
use serde_json::{Map, Value as Json, json};

use crate::views::json::{compact, value_json};

/// Returns the JSON representation of an expression.
pub(super) fn expression_json(expression: &Expression) -> Json {
    let (found, _) = references(expression);
    let mut json = Map::new();
    if let Some(constant) = as_written(expression).or_else(|| constant(expression)) {
        json.insert("constant_value".into(), constant);
    }
    if !found.is_empty() {
        let names: Vec<String> = found.iter().flat_map(reference_names).collect();
        json.insert("references".into(), json!(names));
    }
    Json::Object(json)
}

/// The value of an expression that needs nothing to be worked out, if JSON can say it.
fn constant(expression: &Expression) -> Option<Json> {
    // What the value does not depend on may mention anything.
    let value = evaluate_constant(expression, &mut Diagnostics::new());
    groma_value::json::encode(&value).is_ok().then(|| value_json(&value))
}

/// Returns the constant value of an expression in the JSON syntax, where a string is constant whatever the template in it refers to.
/// `None` for the native syntax.
fn as_written(expression: &Expression) -> Option<Json> {
    match &expression.kind {
        ExpressionKind::JsonString(string) => Some(Json::String(string.text.to_string())),
        ExpressionKind::Null | ExpressionKind::Bool(_) | ExpressionKind::Number(_) => constant(expression),
        ExpressionKind::Tuple(elements) => elements.iter().map(as_written).collect(),
        ExpressionKind::Object(items) => {
            let member = |item: &ObjectItem| match &item.key.kind {
                ExpressionKind::JsonString(key) => Some((key.text.to_string(), as_written(&item.value)?)),
                _ => None,
            };
            let members: BTreeMap<String, Json> = items.iter().map(member).collect::<Option<_>>()?;
            Some(Json::Object(members.into_iter().collect()))
        }
        _ => None,
    }
}

/// The reference and everything on the way to it, the longest first.
pub(super) fn reference_names(reference: &Referenced) -> Vec<String> {
    let mut name = reference.target.to_string();
    let mut names = vec![name.clone()];
    if let Some(key) = &reference.key {
        name.push_str(&key.to_string());
        // An output of a module instance is the instance's alone.
        let is_output = matches!(reference.rest.first(), Some(Step::Attribute { .. }));
        if is_output && matches!(reference.target, Reference::Module(_)) {
            names.clear();
        }
        names.push(name.clone());
    }
    for step in &reference.rest {
        match step {
            Step::Attribute { name: attribute, .. } => {
                name.push('.');
                name.push_str(attribute);
            }
            Step::Index { key: LiteralKey::Number(digits), .. } => name.push_str(&format!("[{digits}]")),
            Step::Index { key: LiteralKey::String(key), .. } => {
                name.push_str(&format!("[{}]", compact(&key.to_string())))
            }
        }
        names.push(name.clone());
    }
    names.reverse();
    names
}
