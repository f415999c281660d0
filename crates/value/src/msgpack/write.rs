//! Writing values.

use super::refinement;
use crate::codec::{CodecError, Failure, Outcome};
use crate::convert::{convert, type_conforms};
use crate::number::Number;
use crate::path::PathStep;
use crate::types::Type;
use crate::value::{Kind, Value};

/// Writes a value as one of a type.
///
/// # Errors
/// If the value cannot be of the type, or something in it is marked.
pub fn encode(value: &Value, ty: &Type) -> Result<Vec<u8>, CodecError> {
    let mut out = Vec::new();
    if value.has_type(ty) || type_conforms(&value.ty(), ty) {
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
    if value.is_marked() {
        return Err(Failure::new("value has marks, so it cannot be serialized"));
    }
    if *ty == Type::Dynamic && !value.has_type(&Type::Dynamic) {
        let own = value.ty();
        out.push(0x92);
        write_bytes(own.to_json().as_bytes(), out);
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

pub(super) fn write_bool(value: bool, out: &mut Vec<u8>) {
    out.push(if value { 0xc3 } else { 0xc2 });
}

/// An integer in the fewest bytes; not negative ones as unsigned.
pub(super) fn write_signed(value: i64, out: &mut Vec<u8>) {
    match value {
        0..=0x7f => out.push(value as u8),
        0x80..=0xff => out.extend_from_slice(&[0xcc, value as u8]),
        0x100..=0xffff => push(0xcd, &(value as u16).to_be_bytes(), out),
        0x1_0000..=0xffff_ffff => push(0xce, &(value as u32).to_be_bytes(), out),
        0x1_0000_0000.. => push(0xcf, &(value as u64).to_be_bytes(), out),
        -32..0 => out.push(value as u8),
        -0x80..-32 => push(0xd0, &(value as i8).to_be_bytes(), out),
        -0x8000..-0x80 => push(0xd1, &(value as i16).to_be_bytes(), out),
        -0x8000_0000..-0x8000 => push(0xd2, &(value as i32).to_be_bytes(), out),
        _ => push(0xd3, &value.to_be_bytes(), out),
    }
}

/// A number as a machine integer, else as a hardware float if that is exact and no integer, else as text.
pub(super) fn write_number(number: &Number, out: &mut Vec<u8>) {
    if number.is_infinite() {
        push(0xcb, &number.to_f64().to_be_bytes(), out);
    } else if let Some(value) = number.to_i64() {
        write_signed(value, out);
    } else if let Some(value) = number.to_f64_exact().filter(|_| !number.is_integer()) {
        push(0xcb, &value.to_be_bytes(), out);
    } else {
        write_text(&number.to_string(), out);
    }
}

pub(super) fn write_text(text: &str, out: &mut Vec<u8>) {
    match text.len() {
        length @ 0..=31 => out.push(0xa0 | length as u8),
        length @ 32..=0xff => out.extend_from_slice(&[0xd9, length as u8]),
        length @ 0x100..=0xffff => push(0xda, &(length as u16).to_be_bytes(), out),
        length => push(0xdb, &(length as u32).to_be_bytes(), out),
    }
    out.extend_from_slice(text.as_bytes());
}

fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    match bytes.len() {
        length @ 0..=0xff => out.extend_from_slice(&[0xc4, length as u8]),
        length @ 0x100..=0xffff => push(0xc5, &(length as u16).to_be_bytes(), out),
        length => push(0xc6, &(length as u32).to_be_bytes(), out),
    }
    out.extend_from_slice(bytes);
}

fn write_array_length(length: usize, out: &mut Vec<u8>) {
    match length {
        0..=15 => out.push(0x90 | length as u8),
        16..=0xffff => push(0xdc, &(length as u16).to_be_bytes(), out),
        _ => push(0xdd, &(length as u32).to_be_bytes(), out),
    }
}

pub(super) fn write_map_length(length: usize, out: &mut Vec<u8>) {
    match length {
        0..=15 => out.push(0x80 | length as u8),
        16..=0xffff => push(0xde, &(length as u16).to_be_bytes(), out),
        _ => push(0xdf, &(length as u32).to_be_bytes(), out),
    }
}

fn push(code: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(code);
    out.extend_from_slice(bytes);
}
