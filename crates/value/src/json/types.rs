//! Types as JSON: `"string"`, `["list","string"]`, `["object",{"a":"bool"},["a"]]`.

use super::scan::{Scanner, Token, text};
use super::write::write_string;
use crate::Name;
use crate::codec::{CodecError, Outcome};
use crate::text::normalized;
use crate::types::{MAX_DEPTH, ObjectType, Type};
use std::sync::Arc;

/// The bracket limit for types: each level of a type takes two brackets.
const DEEPEST: usize = 2 * MAX_DEPTH + 2;

impl Type {
    /// The type as compact JSON, attributes sorted by name.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        write(self, &mut out);
        out
    }

    /// Decodes a type from its JSON form.
    ///
    /// # Errors
    /// Fails if the JSON does not describe a type.
    pub fn from_json(json: &[u8]) -> Result<Type, CodecError> {
        match json {
            b"\"string\"" => return Ok(Type::String),
            b"\"number\"" => return Ok(Type::Number),
            b"\"bool\"" => return Ok(Type::Bool),
            _ => {}
        }
        let text = text(json);
        let mut scanner = Scanner::with_depth(&text, DEEPEST);
        let ty = read(&mut scanner)?;
        scanner.end()?;
        Ok(ty)
    }
}

pub(super) fn write(ty: &Type, out: &mut String) {
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
        write_string(name, out);
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
            write_string(name, out);
        }
        out.push(']');
    }
    out.push(']');
}

fn read(scanner: &mut Scanner<'_>) -> Outcome<Type> {
    match scanner.token()? {
        Token::String(name) => match &*name {
            "bool" => Ok(Type::Bool),
            "number" => Ok(Type::Number),
            "string" => Ok(Type::String),
            "dynamic" => Ok(Type::Dynamic),
            other => scanner.fail(format!("invalid primitive type name {other:?}")),
        },
        Token::Array => read_complex(scanner),
        _ => scanner.fail("invalid type description: a name or an array is required"),
    }
}

/// Reads a collection or structural type after its opening bracket.
fn read_complex(scanner: &mut Scanner<'_>) -> Outcome<Type> {
    let mut first = true;
    let kind = match scanner.more(&mut first, b']')?.then(|| scanner.token()).transpose()? {
        Some(Token::String(kind)) => kind,
        _ => return scanner.fail("invalid type description: expected the kind of the type"),
    };
    if !scanner.more(&mut first, b']')? {
        return scanner.fail("invalid type description: missing element or attribute types");
    }
    let ty = match &*kind {
        "list" => Type::list(read(scanner)?),
        "set" => Type::set(read(scanner)?),
        "map" => Type::map(read(scanner)?),
        "tuple" => read_tuple(scanner)?,
        "object" => return read_object(scanner),
        _ => return scanner.fail("invalid type description: the kind must be list, set, map, object or tuple"),
    };
    end(scanner)?;
    Ok(ty)
}

fn end(scanner: &mut Scanner<'_>) -> Outcome<()> {
    if scanner.more(&mut false, b']')? {
        return scanner.fail("invalid type description: unexpected elements after the type");
    }
    Ok(())
}

fn read_tuple(scanner: &mut Scanner<'_>) -> Outcome<Type> {
    let mut elements = Vec::new();
    match scanner.token()? {
        Token::Array => {
            let mut first = true;
            while scanner.more(&mut first, b']')? {
                elements.push(read(scanner)?);
            }
        }
        // Go encodes a nil slice as null, and plugins leave an empty tuple as one.
        Token::Null => {}
        _ => return scanner.fail("invalid type description: the element types of a tuple must be an array"),
    }
    Ok(Type::tuple(elements))
}

/// Reads the attribute types of an object and the optional list of optional attributes, up to the closing bracket.
fn read_object(scanner: &mut Scanner<'_>) -> Outcome<Type> {
    let mut attributes: Vec<(Name, Type)> = Vec::new();
    match scanner.token()? {
        Token::Object => {
            let mut first = true;
            while scanner.more(&mut first, b'}')? {
                let name = Name::from(normalized(&scanner.key()?).as_ref());
                attributes.push((name, read(scanner)?));
            }
        }
        Token::Null => {}
        _ => return scanner.fail("invalid type description: the attribute types of an object must be an object"),
    }
    let mut object = ObjectType::new(attributes);
    if scanner.more(&mut false, b']')? {
        let optional = read_names(scanner)?;
        if let Some(name) = optional.iter().find(|name| object.attribute(name).is_none()) {
            return scanner.fail(format!("invalid type description: optional attribute {name:?} is not declared"));
        }
        object = object.with_optional(optional);
        end(scanner)?;
    }
    Ok(Type::Object(Arc::new(object)))
}

fn read_names(scanner: &mut Scanner<'_>) -> Outcome<Vec<Name>> {
    const REQUIRED: &str = "invalid type description: the optional attributes must be an array of names";
    let Token::Array = scanner.token()? else { return scanner.fail(REQUIRED) };
    let mut names = Vec::new();
    let mut first = true;
    while scanner.more(&mut first, b']')? {
        let Token::String(name) = scanner.token()? else { return scanner.fail(REQUIRED) };
        names.push(Name::from(normalized(&name).as_ref()));
    }
    Ok(names)
}
