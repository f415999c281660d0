//! Descriptions and permissions of resource types, which schemas without prose lack.

use serde_json::{Map, Value};

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
    for (key, value) in members {
        match (key.as_str(), value) {
            ("properties" | "definitions" | "patternProperties", Value::Object(named)) => {
                for (name, below) in named {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    collect(below, format!("{pointer}/{key}/{name}"), found);
                }
            }
            ("items", below) => collect(below, format!("{pointer}/items"), found),
            ("oneOf" | "anyOf" | "allOf", Value::Array(branches)) => {
                for (index, below) in branches.iter().enumerate() {
                    collect(below, format!("{pointer}/{key}/{index}"), found);
                }
            }
            _ => {}
        }
    }
}
