//! From values to the documents of the service (CC-40), with the service's names.

use groma_value::{Kind, Number, Value};
use serde_json::{Map, Value as Json};

use super::fields::{Change, Field, Fields, Shape};

/// The set of properties in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Everything that can be given.
    Given,
    /// Properties that can be set and read.
    Readable,
    /// Properties that can be given to an existing object: those that are not fixed at its creation.
    Changeable,
}

/// The document of an object: what is null, unknown, empty or read-only is left out.
pub fn of_object(fields: &Fields, object: &Value, part: Part) -> Map<String, Json> {
    let mut document = Map::new();
    if let Some(view) = object.as_object() {
        for (field, value) in fields.list.iter().zip(view.values()) {
            if let (Some(property), Some(json)) = (&field.property, of_field(field, value, part)) {
                document.insert(property.to_string(), json);
            }
        }
    }
    document
}

fn of_field(field: &Field, value: &Value, part: Part) -> Option<Json> {
    let excluded = match part {
        Part::Given => false,
        Part::Readable => field.write_only,
        Part::Changeable => field.change != Change::InPlace,
    };
    if field.read_only() || excluded {
        return None;
    }
    of_value(&field.shape, value, part)
}

/// The JSON of a value; none where there is nothing to say.
pub fn of_value(shape: &Shape, value: &Value, part: Part) -> Option<Json> {
    match (shape, value.kind()) {
        (_, Kind::Null | Kind::Unknown(_)) => None,
        (_, Kind::Bool(flag)) => Some(Json::Bool(flag)),
        (_, Kind::Number(number)) => json_number(number),
        (Shape::Json, Kind::String(text)) => Some(structure(text)),
        (_, Kind::String(text)) => Some(Json::String(text.to_string())),
        (
            Shape::List(element, _) | Shape::Set(element),
            Kind::List(values) | Kind::Set(values) | Kind::Tuple(values),
        ) => {
            let elements: Vec<Json> = values.iter().filter_map(|value| of_value(element, value, part)).collect();
            // The service treats an empty list like a missing one (CC-36).
            (!elements.is_empty()).then_some(Json::Array(elements))
        }
        (Shape::Map(element), Kind::Map(view)) => {
            let members: Map<String, Json> = view
                .iter()
                .filter_map(|(key, value)| Some((key.to_string(), of_value(element, value, part)?)))
                .collect();
            (!members.is_empty()).then_some(Json::Object(members))
        }
        // An object that someone wrote says something even when it is empty: `allow = {}`.
        (Shape::Object(fields), Kind::Object(_)) => Some(Json::Object(of_object(fields, value, part))),
        _ => None,
    }
}

/// A JSON document in a string is sent as what it is; other text (some services take both) as text.
fn structure(text: &str) -> Json {
    match serde_json::from_str(text) {
        Ok(document @ (Json::Object(_) | Json::Array(_))) => document,
        _ => Json::String(text.to_owned()),
    }
}

fn json_number(number: &Number) -> Option<Json> {
    serde_json::from_str::<serde_json::Number>(&number.to_string()).ok().map(Json::Number)
}

/// The text of a JSON document whose form nobody chose: compact, keys sorted, as `jsonencode` writes it.
pub fn text_of(document: &Json) -> String {
    let mut text = sorted(document).to_string();
    // Go escapes these characters, and so does jsonencode in Terraform.
    for (character, escape) in [('<', "\\u003c"), ('>', "\\u003e"), ('&', "\\u0026")] {
        if text.contains(character) {
            text = text.replace(character, escape);
        }
    }
    text
}

fn sorted(document: &Json) -> Json {
    match document {
        Json::Object(members) => {
            let mut sorted_members: Vec<(&String, Json)> =
                members.iter().map(|(key, value)| (key, sorted(value))).collect();
            sorted_members.sort_by(|left, right| left.0.cmp(right.0));
            Json::Object(sorted_members.into_iter().map(|(key, value)| (key.clone(), value)).collect())
        }
        Json::Array(elements) => Json::Array(elements.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

/// Whether two JSON texts mean the same; numbers by value, members in any order.
pub fn same_json(left: &str, right: &str) -> bool {
    left == right
        || match (serde_json::from_str::<Json>(left), serde_json::from_str::<Json>(right)) {
            (Ok(left), Ok(right)) => same_meaning(&left, &right),
            _ => false,
        }
}

/// Whether two JSON values mean the same.
pub fn same_meaning(left: &Json, right: &Json) -> bool {
    match (left, right) {
        // 1 and 1.0 differ as JSON numbers.
        (Json::Number(left), Json::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Json::Array(left), Json::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same_meaning(left, right))
        }
        (Json::Object(left), Json::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| right.get(key).is_some_and(|right| same_meaning(left, right)))
        }
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cc_11_json_compares_by_meaning() {
        assert!(same_json(r#"{"a":1,"b":[true]}"#, r#"{ "b" : [ true ], "a" : 1.0 }"#));
        assert!(!same_json(r#"{"a":1}"#, r#"{"a":2}"#));
        assert!(!same_json("not json", "other"));
        assert!(same_json("not json", "not json"));
        assert_eq!(
            text_of(&serde_json::json!({"b": "<&>", "a": {"d": 1, "c": 2}})),
            r#"{"a":{"c":2,"d":1},"b":"\u003c\u0026\u003e"}"#
        );
    }
}
