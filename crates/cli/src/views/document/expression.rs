//! Expressions in documents: their constant value, or what they refer to.

use groma_diagnostics::Diagnostics;
use groma_hcl::{Expression, LiteralKey, Step};
use groma_lang::{Reference, Referenced, evaluate_constant, references};
use serde_json::{Map, Value as Json, json};

use crate::views::json::{compact, value_json};

/// The object that stands for an expression.
pub(super) fn expression_json(expression: &Expression) -> Json {
    let (found, _) = references(expression);
    let mut json = Map::new();
    // A branch that is not taken may mention anything.
    let mut problems = Diagnostics::new();
    let value = evaluate_constant(expression, &mut problems);
    if value.is_wholly_known() && !problems.has_errors() {
        json.insert("constant_value".into(), value_json(&value));
    }
    if !found.is_empty() {
        let names: Vec<String> = found.iter().flat_map(reference_names).collect();
        json.insert("references".into(), json!(names));
    }
    Json::Object(json)
}

/// The reference and everything on the way to it, the longest first.
pub(super) fn reference_names(reference: &Referenced) -> Vec<String> {
    let mut name = reference.target.to_string();
    let mut names = vec![name.clone()];
    if let Some(key) = &reference.key {
        name.push_str(&key.to_string());
        // Of a module only the instance is named.
        if matches!(reference.target, Reference::Module(_)) {
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
