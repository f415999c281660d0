//! Recognizes JSON documents in strings.

use groma_value::{Number, Value};

/// Parses `text` if it is a JSON object or array.
pub(super) fn parse_document(text: &str) -> Option<Value> {
    // Scalars are valid JSON, but are better shown as plain strings.
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let document: serde_json::Value = serde_json::from_str(text).ok()?;
    convert(document)
}

fn convert(document: serde_json::Value) -> Option<Value> {
    use serde_json::Value as Json;
    Some(match document {
        Json::Null => Value::NULL,
        Json::Bool(value) => Value::bool(value),
        Json::Number(number) => Value::number(number.to_string().parse::<Number>().ok()?),
        Json::String(text) => Value::string(text),
        Json::Array(elements) => Value::tuple(elements.into_iter().map(convert).collect::<Option<_>>()?),
        Json::Object(entries) => {
            let attributes = entries.into_iter().map(|(key, value)| Some((key, convert(value)?)));
            Value::object(attributes.collect::<Option<Vec<_>>>()?)
        }
    })
}
