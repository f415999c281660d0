//! `metadata functions`: prints the signatures of all functions.

use std::collections::BTreeMap;

use groma_lang::{ProviderParameter, functions};
use serde_json::{Map, Value, json};

use super::context::Context;
use super::outcome::{Outcome, misuse};
use crate::arguments::{Flag, Functions};
use crate::views::json::type_json;

pub(super) fn functions(context: &mut Context, arguments: &Functions) -> Outcome {
    if !arguments.json.is_some_and(Flag::is_on) {
        return Err(misuse(
            &context.wording.command,
            "metadata functions",
            "The -json option is required",
            "The function signatures are only available as JSON. Add -json.",
        ));
    }
    // Sorted by name, as Go's JSON encoder sorts maps.
    let mut signatures = BTreeMap::new();
    for name in functions::names() {
        let signature = signature(name);
        // Terraform lists every function under both names.
        signatures.insert(format!("core::{name}"), signature.clone());
        signatures.insert(name.to_owned(), signature);
    }
    let document = json!({ "format_version": "1.0", "function_signatures": signatures });
    context.streams.print_document(&format!("{document}\n"));
    Ok(0)
}

fn signature(name: &str) -> Value {
    let mut object = Map::new();
    if let Some(text) = functions::description(name) {
        object.insert("description".to_owned(), text.into());
    }
    if let Some(signature) = functions::signature(name) {
        object.insert("return_type".to_owned(), type_json(&signature.result));
        // Terraform omits empty fields.
        if !signature.parameters.is_empty() {
            let parameters: Vec<Value> = signature.parameters.iter().map(|one| parameter(name, one)).collect();
            object.insert("parameters".to_owned(), parameters.into());
        }
        if let Some(variadic) = &signature.variadic {
            object.insert("variadic_parameter".to_owned(), parameter(name, variadic));
        }
    }
    Value::Object(object)
}

fn parameter(function: &str, parameter: &ProviderParameter) -> Value {
    let mut object = Map::new();
    object.insert("name".to_owned(), parameter.name.as_str().into());
    if let Some(text) = functions::parameter_description(function, &parameter.name) {
        object.insert("description".to_owned(), text.into());
    }
    if parameter.nullable {
        object.insert("is_nullable".to_owned(), true.into());
    }
    object.insert("type".to_owned(), type_json(&parameter.ty));
    Value::Object(object)
}
