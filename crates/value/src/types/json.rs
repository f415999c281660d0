//! Types as JSON: `"string"`, `["list","string"]`, `["object",{"a":"bool"},["a"]]`.

use super::{MAX_DEPTH, ObjectType, Type};
use crate::Name;
use serde_json::Value as Json;
use std::sync::Arc;

/// The JSON does not describe a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TypeJsonError {
    /// The text is not JSON.
    #[error("a type description must be JSON: {0}")]
    Syntax(String),
    /// The JSON is something else.
    #[error("invalid type description: {0}")]
    Invalid(&'static str),
    /// The name is none of the simple types.
    #[error("invalid primitive type name {0:?}")]
    UnknownName(String),
    /// Types inside types beyond all measure.
    #[error("the type description is nested too deeply")]
    TooDeep,
}

impl Type {
    /// The type as compact JSON, attributes sorted by name.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        write(self, &mut out);
        out
    }

    /// Reads a type from JSON.
    ///
    /// # Errors
    /// If the text does not describe a type.
    pub fn from_json(json: &[u8]) -> Result<Type, TypeJsonError> {
        let json: Json = serde_json::from_slice(json).map_err(|error| TypeJsonError::Syntax(error.to_string()))?;
        read(&json, 0)
    }
}

fn write(ty: &Type, out: &mut String) {
    match ty {
        Type::Bool => out.push_str("\"bool\""),
        Type::Number => out.push_str("\"number\""),
        Type::String => out.push_str("\"string\""),
        Type::Dynamic => out.push_str("\"dynamic\""),
        Type::List(element) => write_collection("list", element, out),
        Type::Set(element) => write_collection("set", element, out),
        Type::Map(element) => write_collection("map", element, out),
        Type::Tuple(elements) => {
            out.push_str("[\"tuple\",[");
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(element, out);
            }
            out.push_str("]]");
        }
        Type::Object(object) => write_object(object, out),
    }
}

fn write_collection(kind: &str, element: &Type, out: &mut String) {
    out.push_str("[\"");
    out.push_str(kind);
    out.push_str("\",");
    write(element, out);
    out.push(']');
}

fn write_object(object: &ObjectType, out: &mut String) {
    out.push_str("[\"object\",{");
    for (at, (name, ty)) in object.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        crate::json::write_string(name, out);
        out.push(':');
        write(ty, out);
    }
    out.push('}');
    if object.optional().next().is_some() {
        out.push_str(",[");
        for (at, name) in object.optional().enumerate() {
            if at > 0 {
                out.push(',');
            }
            crate::json::write_string(name, out);
        }
        out.push(']');
    }
    out.push(']');
}

fn read(json: &Json, depth: usize) -> Result<Type, TypeJsonError> {
    if depth > MAX_DEPTH {
        return Err(TypeJsonError::TooDeep);
    }
    let items = match json {
        Json::String(name) => return simple(name),
        Json::Array(items) => items.as_slice(),
        _ => return Err(TypeJsonError::Invalid("a name or an array is required")),
    };
    let (Some(Json::String(kind)), Some(inner)) = (items.first(), items.get(1)) else {
        return Err(TypeJsonError::Invalid("a complex type needs its kind and what is inside"));
    };
    let most = if kind == "object" { 3 } else { 2 };
    if items.len() > most {
        return Err(TypeJsonError::Invalid("there is more than the type"));
    }
    match kind.as_str() {
        "list" => read(inner, depth + 1).map(Type::list),
        "set" => read(inner, depth + 1).map(Type::set),
        "map" => read(inner, depth + 1).map(Type::map),
        "tuple" => {
            let elements = match inner {
                Json::Array(elements) => elements.as_slice(),
                // Plugins written in Go may leave out an empty array like this.
                Json::Null => &[],
                _ => return Err(TypeJsonError::Invalid("the element types of a tuple must be an array")),
            };
            let elements: Result<Arc<[Type]>, _> = elements.iter().map(|element| read(element, depth + 1)).collect();
            elements.map(Type::Tuple)
        }
        "object" => read_object(inner, items.get(2), depth),
        _ => Err(TypeJsonError::Invalid("the kind must be list, set, map, object or tuple")),
    }
}

fn simple(name: &str) -> Result<Type, TypeJsonError> {
    match name {
        "bool" => Ok(Type::Bool),
        "number" => Ok(Type::Number),
        "string" => Ok(Type::String),
        "dynamic" => Ok(Type::Dynamic),
        other => Err(TypeJsonError::UnknownName(other.to_owned())),
    }
}

fn read_object(attributes: &Json, optional: Option<&Json>, depth: usize) -> Result<Type, TypeJsonError> {
    let attributes = match attributes {
        Json::Object(attributes) => Some(attributes),
        Json::Null => None,
        _ => return Err(TypeJsonError::Invalid("the attribute types of an object must be an object")),
    };
    let attributes: Vec<(Name, Type)> = attributes
        .into_iter()
        .flatten()
        .map(|(name, ty)| Ok((Name::from(crate::text::normalized(name).as_ref()), read(ty, depth + 1)?)))
        .collect::<Result<_, TypeJsonError>>()?;
    let mut object = ObjectType::new(attributes);
    if let Some(optional) = optional {
        let Json::Array(names) = optional else {
            return Err(TypeJsonError::Invalid("the optional attributes must be an array of names"));
        };
        let names: Option<Vec<Name>> = names.iter().map(|name| name.as_str().map(Name::from)).collect();
        let names = names.ok_or(TypeJsonError::Invalid("the optional attributes must be names"))?;
        if names.iter().any(|name| object.attribute(name).is_none()) {
            return Err(TypeJsonError::Invalid("an optional attribute is none of the attributes"));
        }
        object = object.with_optional(names);
    }
    Ok(Type::Object(Arc::new(object)))
}
