//! Values and schemas from recorded plan documents.

use groma_provider::{Attribute, AttributeType, Block, NestedBlock, Nesting, ObjectNesting, ObjectSchema, Use};
use groma_value::{Marks, Number, Path, PathStep, Type, Value};
use serde_json::Value as Json;

/// The block of a resource type's schema JSON.
pub fn block(json: &Json) -> Block {
    let attributes = entries(&json["attributes"]).map(|(name, attribute)| (name.as_str(), self::attribute(attribute)));
    let blocks = entries(&json["block_types"]).map(|(name, nested)| {
        let nesting = match nested["nesting_mode"].as_str().unwrap() {
            "single" => Nesting::Single,
            "group" => Nesting::Group,
            "list" => Nesting::List,
            "set" => Nesting::Set,
            _ => Nesting::Map,
        };
        (name.as_str(), NestedBlock::new(nesting, block(&nested["block"])))
    });
    Block::new(attributes, blocks)
}

fn attribute(json: &Json) -> Attribute {
    let flag = |name: &str| json[name].as_bool().unwrap_or_default();
    let usage = match (flag("required"), flag("optional"), flag("computed")) {
        (true, ..) => Use::Required,
        (_, true, false) => Use::Optional,
        (_, true, true) => Use::OptionalComputed,
        (_, false, _) => Use::Computed,
    };
    let kind = if json["nested_type"].is_object() {
        let nested = &json["nested_type"];
        let nesting = match nested["nesting_mode"].as_str().unwrap() {
            "single" => ObjectNesting::Single,
            "list" => ObjectNesting::List,
            "set" => ObjectNesting::Set,
            _ => ObjectNesting::Map,
        };
        let attributes = entries(&nested["attributes"]).map(|(name, json)| (name.as_str(), attribute(json)));
        AttributeType::Nested(std::sync::Arc::new(ObjectSchema::new(nesting, attributes)))
    } else {
        AttributeType::Type(Type::from_json(json["type"].to_string().as_bytes()).unwrap())
    };
    let attribute = Attribute::new(kind, usage);
    let attribute = if flag("write_only") { attribute.write_only() } else { attribute };
    if flag("sensitive") { attribute.sensitive() } else { attribute }
}

fn entries(json: &Json) -> impl Iterator<Item = (&String, &Json)> {
    json.as_object().into_iter().flatten()
}

/// The value of `json` with what is unknown or sensitive laid over it.
pub fn value(json: &Json, unknown: &Json, sensitive: &Json, ty: &Type) -> Value {
    let value =
        if *unknown == Json::Bool(true) { Value::unknown(ty.clone()) } else { known(json, unknown, sensitive, ty) };
    if *sensitive == Json::Bool(true) { value.with_marks(&Marks::SENSITIVE) } else { value }
}

fn known(json: &Json, unknown: &Json, sensitive: &Json, ty: &Type) -> Value {
    let elements = |element: &dyn Fn(usize) -> Type| -> Vec<Value> {
        let parts = json.as_array().into_iter().flatten().enumerate();
        parts.map(|(at, json)| value(json, &unknown[at], &sensitive[at], &element(at))).collect()
    };
    let part = |name: &str, ty: &Type| value(&json[name], &unknown[name], &sensitive[name], ty);
    match ty {
        _ if json.is_null() => Value::null(ty.clone()),
        Type::Dynamic if json.is_array() => Value::tuple(elements(&|_| Type::Dynamic)),
        Type::Dynamic if json.is_object() => {
            let names = entries(json).chain(entries(unknown)).map(|(name, _)| name.clone());
            let names: std::collections::BTreeSet<String> = names.collect();
            Value::object(names.into_iter().map(|name| (name.clone(), part(&name, &Type::Dynamic))))
        }
        Type::Object(object) => Value::object(object.iter().map(|(name, ty)| (name.clone(), part(name, ty)))),
        Type::List(element) => Value::list((**element).clone(), elements(&|_| (**element).clone())),
        Type::Set(element) => Value::set((**element).clone(), elements(&|_| (**element).clone())),
        Type::Tuple(types) => Value::tuple(elements(&|at| types[at].clone())),
        Type::Map(element) => {
            let names = entries(json).chain(entries(unknown)).map(|(name, _)| name.clone());
            let names: std::collections::BTreeSet<String> = names.collect();
            Value::map((**element).clone(), names.into_iter().map(|name| (name.clone(), part(&name, element))))
        }
        Type::Dynamic | Type::Bool | Type::Number | Type::String => match json {
            Json::Bool(value) => Value::bool(*value),
            Json::Number(number) => Value::number(number.to_string().parse::<Number>().unwrap()),
            Json::String(text) => Value::string(text),
            other => panic!("{other} is not of the type {ty}"),
        },
    }
}

/// The paths of `replace_paths`.
pub fn paths(json: &Json) -> Vec<Path> {
    let step = |json: &Json| match json {
        Json::String(name) => PathStep::Attribute(name.as_str().into()),
        other => PathStep::Index(Value::number(other.to_string().parse::<Number>().unwrap())),
    };
    let path = |steps: &Json| {
        let mut path = Path::root();
        steps.as_array().into_iter().flatten().for_each(|json| path.push(step(json)));
        path
    };
    json.as_array().into_iter().flatten().map(path).collect()
}
