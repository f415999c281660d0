//! Encoding of values as JSON.

use std::fmt::Write;

use crate::Name;
use crate::codec::{CodecError, Failure, Outcome};
use crate::convert::{convert, value_conforms};
use crate::path::PathStep;
use crate::types::Type;
use crate::value::{Kind, Value};

/// Encodes a value of a type as in state files: compact, attributes sorted by name.
///
/// # Errors
/// Fails if the value cannot be converted to the type, or contains unknown, marked or infinite values.
pub fn to_json(value: &Value, ty: &Type) -> Result<Vec<u8>, CodecError> {
    let mut out = String::with_capacity(128);
    write_json(value, ty, &mut out)?;
    Ok(out.into_bytes())
}

/// Appends the encoding of [`to_json`] to `out`. After an error `out` ends with an incomplete value.
///
/// # Errors
/// Fails in the cases of [`to_json`].
pub fn write_json(value: &Value, ty: &Type, out: &mut String) -> Result<(), CodecError> {
    if value_conforms(value, ty) {
        return Ok(write(value, Some(ty), out)?);
    }
    let converted =
        convert(value, ty).map_err(|error| CodecError { path: error.path, message: error.message, offset: None })?;
    Ok(write(&converted, Some(ty), out)?)
}

/// Encodes a value without a type, as `jsonencode` does.
///
/// # Errors
/// Fails if the value contains unknown, marked or infinite values.
pub fn encode(value: &Value) -> Result<String, CodecError> {
    let mut out = String::new();
    encode_into(value, &mut out)?;
    Ok(out)
}

/// Appends the encoding of [`encode`] to `out`. After an error `out` ends with an incomplete value.
///
/// # Errors
/// Fails in the cases of [`encode`].
pub fn encode_into(value: &Value, out: &mut String) -> Result<(), CodecError> {
    Ok(write(value, None, out)?)
}

/// Writes a value; where `ty` is dynamic, together with its own type.
fn write(value: &Value, ty: Option<&Type>, out: &mut String) -> Outcome<()> {
    if value.is_marked() {
        return Err(Failure::new("cannot serialize a marked value as JSON"));
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

/// Bytes that are escaped, or that may begin an escaped character.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut at = 0;
    while at < 0x20 {
        special[at] = true;
        at += 1;
    }
    let bytes = *b"\"\\<>&\xe2";
    at = 0;
    while at < bytes.len() {
        special[bytes[at] as usize] = true;
        at += 1;
    }
    special
};

/// Writes a quoted JSON string. `<`, `>`, `&` and the line separators U+2028 and U+2029 are escaped too, as Go's
/// encoder does by default and Terraform's state files and `jsonencode` show.
pub(super) fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut start = 0;
    for (at, byte) in text.bytes().enumerate() {
        if !SPECIAL[usize::from(byte)] {
            continue;
        }
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            b'<' => "\\u003c",
            b'>' => "\\u003e",
            b'&' => "\\u0026",
            0..=0x1f => "",
            0xe2 if text[at..].starts_with('\u{2028}') => "\\u2028",
            0xe2 if text[at..].starts_with('\u{2029}') => "\\u2029",
            _ => continue,
        };
        out.push_str(&text[start..at]);
        start = at + 1;
        match byte {
            0xe2 => start = at + '\u{2028}'.len_utf8(),
            _ if escape.is_empty() => {
                // Writing into a string cannot fail.
                let _ = write!(out, "\\u{byte:04x}");
            }
            _ => {}
        }
        out.push_str(escape);
    }
    out.push_str(&text[start..]);
    out.push('"');
}
