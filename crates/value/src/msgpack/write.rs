//! Encoding of values as msgpack.

use super::items::{write_array_length, write_bool, write_bytes, write_map_length, write_number, write_text};
use super::refinement;
use crate::codec::{CodecError, Failure, Outcome};
use crate::convert::{convert, value_conforms};
use crate::path::PathStep;
use crate::types::Type;
use crate::value::{Kind, Value};

/// Encodes a value of a type.
///
/// # Errors
/// Fails if the value cannot be converted to the type, or contains marks.
pub fn encode(value: &Value, ty: &Type) -> Result<Vec<u8>, CodecError> {
    let mut out = Vec::with_capacity(128);
    if value_conforms(value, ty) {
        write(value, ty, &mut out)?;
    } else {
        let converted = convert(value, ty).map_err(|error| CodecError {
            path: error.path,
            message: error.message,
            offset: None,
        })?;
        write(&converted, ty, &mut out)?;
    }
    Ok(out)
}

fn write(value: &Value, ty: &Type, out: &mut Vec<u8>) -> Outcome<()> {
    // Marks have no form in the protocol, so a marked value would lose its sensitivity silently.
    if value.is_marked() {
        return Err(Failure::new("cannot serialize a marked value as msgpack"));
    }
    if *ty == Type::Dynamic && !value.has_type(&Type::Dynamic) {
        let own = value.ty();
        // A dynamic value is an array of two items: its type as JSON, and the value.
        out.push(0x92);
        match own {
            // The types of most dynamic values are primitive; constants avoid the encoding of a type.
            Type::String => write_bytes(b"\"string\"", out),
            Type::Number => write_bytes(b"\"number\"", out),
            Type::Bool => write_bytes(b"\"bool\"", out),
            _ => write_bytes(own.to_json().as_bytes(), out),
        }
        return write(value, &own, out);
    }
    match (value.kind(), ty) {
        (Kind::Unknown(refinement), _) => refinement::encode(refinement, out),
        (Kind::Null, _) => out.push(0xc0),
        (Kind::Bool(value), _) => write_bool(value, out),
        (Kind::Number(number), _) => write_number(number, out),
        (Kind::String(text), _) => write_text(text, out),
        (Kind::List(values), Type::List(element)) | (Kind::Set(values), Type::Set(element)) => {
            write_array_length(values.len(), out);
            for (at, value) in values.iter().enumerate() {
                write(value, element, out).map_err(|failure| failure.within(PathStep::Index(Value::number(at))))?;
            }
        }
        (Kind::Tuple(values), Type::Tuple(types)) => {
            write_array_length(values.len(), out);
            for (at, (value, ty)) in values.iter().zip(types.iter()).enumerate() {
                write(value, ty, out).map_err(|failure| failure.within(PathStep::Index(Value::number(at))))?;
            }
        }
        (Kind::Map(map), Type::Map(element)) => {
            write_map_length(map.len(), out);
            for (key, value) in map.iter() {
                write_text(key, out);
                write(value, element, out).map_err(|failure| failure.within(PathStep::Index(Value::from(key))))?;
            }
        }
        (Kind::Object(object), Type::Object(ty)) => {
            write_map_length(object.len(), out);
            for ((name, value), ty) in object.iter().zip(ty.types()) {
                write_text(name, out);
                write(value, ty, out).map_err(|failure| failure.within(PathStep::Attribute(name.clone())))?;
            }
        }
        (_, ty) => return Err(Failure::new(format!("{} required", ty.friendly_name()))),
    }
    Ok(())
}
