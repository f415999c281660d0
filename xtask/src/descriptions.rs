//! Descriptions and permissions of resource types, which schemas without prose lack.

use serde_json::{Map, Value};

use crate::subschemas::subschemas;

/// Returns the descriptions of a schema by the JSON pointers of their nodes, and the permissions of its handlers under
/// `permissions`.
pub fn of(schema: &Value) -> Value {
    let mut found = Map::new();
    collect(schema, String::new(), &mut found);
    let mut permissions = Map::new();
    for (handler, content) in schema.get("handlers").and_then(Value::as_object).into_iter().flatten() {
        if let Some(list) = content.get("permissions") {
            permissions.insert(handler.clone(), list.clone());
        }
    }
    found.insert("permissions".to_owned(), Value::Object(permissions));
    Value::Object(found)
}

fn collect(schema: &Value, pointer: String, found: &mut Map<String, Value>) {
    let Value::Object(members) = schema else { return };
    if let Some(text @ Value::String(_)) = members.get("description") {
        found.insert(pointer.clone(), text.clone());
    }
    for (step, below) in subschemas(schema) {
        // Conditions have no attributes that could show a description.
        if !matches!(step.as_str(), "/if" | "/then" | "/else" | "/not") {
            collect(below, format!("{pointer}{step}"), found);
        }
    }
}
