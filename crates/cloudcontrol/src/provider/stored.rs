//! Objects as they are stored in state: JSON with our attribute names. What an older schema stored is taken over as far as
//! it still means something (LC-19, LC-20).

use groma_value::{Number, Value};
use serde_json::Value as Json;

use super::document::text_of;
use super::fields::{Fields, Shape};

/// The object of a stored JSON text.
pub fn decode(fields: &Fields, text: &str) -> Result<Value, serde_json::Error> {
    Ok(object(fields, &serde_json::from_str(text)?))
}

fn object(fields: &Fields, json: &Json) -> Value {
    let values = fields.list.iter().map(|field| match json.get(&*field.attribute) {
        Some(json) => value(&field.shape, json),
        None => Value::null(field.shape.ty()),
    });
    fields.block.object(values.collect())
}

fn value(shape: &Shape, json: &Json) -> Value {
    let converted = match (shape, json) {
        (Shape::Bool, Json::Bool(flag)) => Some(Value::bool(*flag)),
        (Shape::Bool, Json::String(text)) => text.parse().ok().map(Value::bool),
        (Shape::Integer | Shape::Number, Json::Number(number)) => {
            Number::parse(&number.to_string()).ok().map(Value::number)
        }
        (Shape::Integer | Shape::Number, Json::String(text)) => Number::parse(text).ok().map(Value::number),
        (Shape::Text | Shape::Time | Shape::Json, Json::String(text)) => Some(Value::string(text)),
        (_, Json::Null) => None,
        (Shape::Text | Shape::Time | Shape::Json, other) => Some(Value::string(text_of(other))),
        (Shape::List(element, _), Json::Array(elements)) => {
            Some(Value::list(element.ty(), elements.iter().map(|json| value(element, json)).collect()))
        }
        (Shape::Set(element), Json::Array(elements)) => {
            Some(Value::set(element.ty(), elements.iter().map(|json| value(element, json)).collect()))
        }
        (Shape::Map(element), Json::Object(members)) => {
            Some(Value::map(element.ty(), members.iter().map(|(key, json)| (key.as_str(), value(element, json)))))
        }
        (Shape::Object(fields), Json::Object(_)) => Some(object(fields, json)),
        _ => None,
    };
    converted.unwrap_or_else(|| Value::null(shape.ty()))
}
