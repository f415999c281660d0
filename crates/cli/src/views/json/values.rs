//! Values, and what is unknown or sensitive about them.

use std::str::FromStr;

use groma_address::InstanceKey;
use groma_value::{Kind, Type, Value};
use serde_json::{Map, Number, Value as Json};

/// The value; unknown attributes and elements of maps are left out, unknown elements of lists are null.
pub fn value_json(value: &Value) -> Json {
    match value.kind() {
        Kind::Null | Kind::Unknown(_) => Json::Null,
        Kind::Bool(value) => value.into(),
        Kind::Number(number) => Number::from_str(&number.to_string()).map_or(Json::Null, Json::Number),
        Kind::String(text) => Json::String(text.to_string()),
        Kind::List(values) | Kind::Set(values) | Kind::Tuple(values) => values.iter().map(value_json).collect(),
        Kind::Map(map) => known_entries(map.iter()),
        Kind::Object(object) => known_entries(object.iter()),
    }
}

fn known_entries<'v>(entries: impl Iterator<Item = (&'v groma_value::Name, &'v Value)>) -> Json {
    let known = entries.filter(|(_, value)| value.is_known());
    Json::Object(known.map(|(name, value)| (name.to_string(), value_json(value))).collect())
}

/// Returns the unknown parts of a value: true there, nothing for known attributes, false for known elements of lists.
pub fn unknown_json(value: &Value) -> Json {
    match value.kind() {
        Kind::Unknown(_) => Json::Bool(true),
        Kind::List(values) | Kind::Set(values) | Kind::Tuple(values) => values.iter().map(unknown_json).collect(),
        Kind::Map(map) => telling(map.iter(), unknown_json),
        Kind::Object(object) => telling(object.iter(), unknown_json),
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => Json::Bool(false),
    }
}

/// Returns the sensitive parts of a value, in the form of [`unknown_json`].
pub fn sensitive_json(value: &Value) -> Json {
    if value.marks().is_sensitive() {
        return Json::Bool(true);
    }
    match value.kind() {
        Kind::Unknown(_) => match value.ty() {
            Type::List(_) | Type::Set(_) | Type::Tuple(_) => Json::Array(Vec::new()),
            Type::Map(_) | Type::Object(_) => Json::Object(Map::new()),
            Type::Dynamic | Type::Bool | Type::Number | Type::String => Json::Bool(false),
        },
        Kind::List(values) | Kind::Set(values) | Kind::Tuple(values) => values.iter().map(sensitive_json).collect(),
        Kind::Map(map) => telling(map.iter(), sensitive_json),
        Kind::Object(object) => telling(object.iter(), sensitive_json),
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => Json::Bool(false),
    }
}

fn telling<'v>(entries: impl Iterator<Item = (&'v groma_value::Name, &'v Value)>, tell: fn(&Value) -> Json) -> Json {
    let told = entries.map(|(name, value)| (name.to_string(), tell(value)));
    Json::Object(told.filter(|(_, json)| *json != Json::Bool(false)).collect())
}

/// The JSON form of a type.
pub fn type_json(ty: &Type) -> Json {
    serde_json::from_str(&ty.to_json()).unwrap_or(Json::Null)
}

/// The key of an instance, if it has one.
pub(crate) fn key_json(key: &InstanceKey) -> Option<Json> {
    match key {
        InstanceKey::None => None,
        InstanceKey::Int(index) => Some((*index).into()),
        InstanceKey::String(name) => Some(name.to_string().into()),
    }
}

#[cfg(test)]
mod tests {
    use groma_value::Marks;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_known_is_left_out_of_objects_but_not_of_lists() {
        let value = Value::object([
            ("id", Value::unknown(Type::String)),
            ("list", Value::tuple(vec![Value::unknown(Type::String), Value::string("one")])),
            ("map", Value::map(Type::String, [("a", Value::string("b"))])),
            ("name", Value::string("n").with_marks(&Marks::SENSITIVE)),
            ("none", Value::null(Type::String)),
            ("later", Value::unknown(Type::object([("a", Type::String)]))),
        ]);
        assert_eq!(
            value_json(&value),
            json!({ "list": [null, "one"], "map": { "a": "b" }, "name": "n", "none": null })
        );
        assert_eq!(unknown_json(&value), json!({ "id": true, "later": true, "list": [true, false], "map": {} }));
        assert_eq!(sensitive_json(&value), json!({ "later": {}, "list": [false, false], "map": {}, "name": true }));
    }

    #[test]
    fn numbers_keep_their_digits() {
        let value = Value::number("1234567890123456789012345".parse::<groma_value::Number>().unwrap());
        assert_eq!(crate::views::json::compact(&value_json(&value)), "1234567890123456789012345");
    }
}
