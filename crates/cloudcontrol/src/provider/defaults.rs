//! Defaults of schemas as planned values (CC-30).

use groma_value::Value;
use serde_json::Value as Json;

use super::fields::Shape;
use super::state::read_value;

/// Returns the value that a schema default stands for: scalars, collections of scalars, empty collections, and objects, of
/// which the properties without a default stay unknown. Other defaults describe the service rather than a value.
pub(super) fn default_value(shape: &Shape, json: &Json) -> Option<Value> {
    match (shape, json) {
        (Shape::List(element, _) | Shape::Set(element), Json::Array(elements)) => {
            if elements.is_empty() {
                return None;
            }
            (is_scalar(element) && elements.iter().all(is_plain)).then(|| read(shape, json)).flatten()
        }
        (Shape::Object(fields), Json::Object(members)) => {
            let values: Option<Vec<Value>> = fields
                .list
                .iter()
                .map(|field| match field.property.as_ref().and_then(|property| members.get(&**property)) {
                    Some(json) => default_value(&field.shape, json),
                    None => Some(field.default.clone().unwrap_or_else(|| Value::unknown(field.shape.ty()))),
                })
                .collect();
            values.map(|values| fields.block.object(values))
        }
        (shape, json) if is_scalar(shape) && is_plain(json) => read(shape, json),
        _ => None,
    }
}

fn read(shape: &Shape, json: &Json) -> Option<Value> {
    Some(read_value(shape, json, &Value::null(shape.ty()))).filter(|value| !value.is_null())
}

fn is_scalar(shape: &Shape) -> bool {
    matches!(shape, Shape::Bool | Shape::Integer | Shape::Number | Shape::Text | Shape::Time | Shape::Json)
}

/// Whether a default is a value. Some schemas have templates instead, with placeholders for account and partition.
fn is_plain(json: &Json) -> bool {
    match json {
        Json::String(text) => !has_placeholder(text),
        Json::Number(_) | Json::Bool(_) => true,
        Json::Null | Json::Array(_) | Json::Object(_) => false,
    }
}

fn has_placeholder(text: &str) -> bool {
    text.split('<').skip(1).filter_map(|rest| rest.split_once('>')).any(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cc_30_defaults_become_values_of_the_attribute_type() {
        assert_eq!(default_value(&Shape::Bool, &json!("true")), Some(Value::bool(true)));
        assert_eq!(default_value(&Shape::Text, &json!(false)), Some(Value::string("false")));
        assert_eq!(default_value(&Shape::Integer, &json!(365)), Some(Value::number(365)));
        assert_eq!(default_value(&Shape::Text, &json!("arn:<partition>:iam::<account-id>:root")), None);
        assert_eq!(default_value(&Shape::Text, &json!({"a": 1})), None);
        let list = Shape::List(Box::new(Shape::Text), super::super::fields::Order::Kept);
        assert_eq!(
            default_value(&list, &json!(["a"])).map(|value| value.as_slice().map(<[Value]>::len)),
            Some(Some(1))
        );
        assert_eq!(default_value(&list, &json!([])), None);
    }
}
