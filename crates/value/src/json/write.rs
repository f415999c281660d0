//! Encoding of values as JSON.

use super::text::write_string;
use crate::Name;
use crate::codec::{CodecError, Failure, Outcome};
use crate::convert::{convert, value_conforms};
use crate::path::PathStep;
use crate::types::Type;
use crate::value::{Kind, Value};

/// Writes a value as one of a type, as state files have it: sorted names, no spaces.
///
/// # Errors
/// If the value cannot be of the type, or something in it is unknown, marked or infinite.
pub fn to_json(value: &Value, ty: &Type) -> Result<Vec<u8>, CodecError> {
    let mut out = String::with_capacity(128);
    write_json(value, ty, &mut out)?;
    Ok(out.into_bytes())
}

/// As [`to_json`], at the end of a text. After an error the text holds a part of the value.
///
/// # Errors
/// As [`to_json`].
pub fn write_json(value: &Value, ty: &Type, out: &mut String) -> Result<(), CodecError> {
    if value_conforms(value, ty) {
        return Ok(write(value, Some(ty), out)?);
    }
    let converted =
        convert(value, ty).map_err(|error| CodecError { path: error.path, message: error.message, offset: None })?;
    Ok(write(&converted, Some(ty), out)?)
}

/// Writes a value as what it is, as `jsonencode` does.
///
/// # Errors
/// If something in it is unknown, marked or infinite.
pub fn encode(value: &Value) -> Result<String, CodecError> {
    let mut out = String::new();
    encode_into(value, &mut out)?;
    Ok(out)
}

/// As [`encode`], at the end of a text. After an error the text holds a part of the value.
///
/// # Errors
/// As [`encode`].
pub fn encode_into(value: &Value, out: &mut String) -> Result<(), CodecError> {
    Ok(write(value, None, out)?)
}

/// Writes a value; where the type says dynamic, with its own type.
fn write(value: &Value, ty: Option<&Type>, out: &mut String) -> Outcome<()> {
    if value.is_marked() {
        return Err(Failure::new("the value is marked, and JSON has no place for marks"));
    }
    if let Some(Type::Dynamic) = ty
        && value.is_known()
        && !value.has_type(&Type::Dynamic)
    {
        return write_dynamic(value, out);
    }
    match value.kind() {
        Kind::Unknown(_) => return Err(Failure::new("value is not known")),
        Kind::Null => out.push_str("null"),
        Kind::Bool(true) => out.push_str("true"),
        Kind::Bool(false) => out.push_str("false"),
        Kind::Number(number) if number.is_infinite() => {
            return Err(Failure::new("cannot serialize infinity as JSON"));
        }
        Kind::Number(number) => number.push_to(out),
        Kind::String(text) => write_string(text, out),
        Kind::List(values) | Kind::Set(values) => {
            let element = ty.and_then(Type::element);
            write_array(values.iter().map(|value| (value, element)), out)?;
        }
        Kind::Tuple(values) => {
            let types = ty.and_then(Type::as_tuple);
            write_array(
                values.iter().enumerate().map(|(at, value)| (value, types.and_then(|types| types.get(at)))),
                out,
            )?;
        }
        Kind::Map(map) => {
            let element = ty.and_then(Type::element);
            let members = map.iter().map(|(key, value)| (key, value, element));
            write_members(members, |key| PathStep::Index(Value::from(key)), out)?;
        }
        Kind::Object(object) => {
            let types = ty.and_then(Type::as_object);
            let members = object
                .iter()
                .enumerate()
                .map(|(at, (name, value))| (name, value, types.and_then(|types| types.types().get(at))));
            write_members(members, |name| PathStep::Attribute(name.clone()), out)?;
        }
    }
    Ok(())
}

fn write_array<'a>(values: impl Iterator<Item = (&'a Value, Option<&'a Type>)>, out: &mut String) -> Outcome<()> {
    out.push('[');
    for (at, (value, ty)) in values.enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(value, ty, out).map_err(|failure| failure.within(PathStep::Index(Value::number(at))))?;
    }
    out.push(']');
    Ok(())
}

fn write_members<'a>(
    members: impl Iterator<Item = (&'a Name, &'a Value, Option<&'a Type>)>,
    step: fn(&Name) -> PathStep,
    out: &mut String,
) -> Outcome<()> {
    out.push('{');
    for (at, (name, value, ty)) in members.enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_string(name, out);
        out.push(':');
        write(value, ty, out).map_err(|failure| failure.within(step(name)))?;
    }
    out.push('}');
    Ok(())
}

fn write_dynamic(value: &Value, out: &mut String) -> Outcome<()> {
    out.push_str("{\"value\":");
    let ty = value.ty();
    write(value, Some(&ty), out)?;
    out.push_str(",\"type\":");
    super::types::write(&ty, out);
    out.push('}');
    Ok(())
}
