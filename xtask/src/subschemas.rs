//! The schemas inside of a JSON schema.

use serde_json::Value;

/// Returns the schemas directly inside of a schema, each with its JSON pointer relative to that schema.
pub fn subschemas(schema: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    for (key, value) in schema.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            ("properties" | "definitions" | "patternProperties", Value::Object(named)) => {
                for (name, below) in named {
                    // JSON pointers escape these characters, the tilde first (RFC 6901).
                    let name = name.replace('~', "~0").replace('/', "~1");
                    found.push((format!("/{key}/{name}"), below));
                }
            }
            ("items" | "if" | "then" | "else" | "not", below) => found.push((format!("/{key}"), below)),
            ("oneOf" | "anyOf" | "allOf", Value::Array(branches)) => {
                let numbered = branches.iter().enumerate();
                found.extend(numbered.map(|(index, below)| (format!("/{key}/{index}"), below)));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pointers_lead_to_the_schemas() {
        let schema = json!({
            "properties": {"a/b": {"type": "string"}, "c": {"items": {}}},
            "oneOf": [{"required": ["c"]}, true],
            "not": {},
            "enum": [{"properties": {}}],
        });
        let found = subschemas(&schema);
        let pointers: Vec<&str> = found.iter().map(|(pointer, _)| pointer.as_str()).collect();
        assert_eq!(pointers, ["/properties/a~1b", "/properties/c", "/oneOf/0", "/oneOf/1", "/not"]);
        assert!(found.iter().all(|(pointer, below)| schema.pointer(pointer) == Some(*below)));
    }
}
