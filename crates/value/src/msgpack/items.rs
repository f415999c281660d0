//! Encoding of msgpack items, each in its shortest form.

use crate::number::Number;

pub(super) fn write_bool(value: bool, out: &mut Vec<u8>) {
    out.push(if value { 0xc3 } else { 0xc2 });
}

/// Writes an integer in its shortest form; non-negative integers use the unsigned formats.
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

/// Writes a number as an integer if it fits one, else as a float if that is exact and fractional, else as a string.
pub(super) fn write_number(number: &Number, out: &mut Vec<u8>) {
    // Infinities are sent as floats, as Terraform's encoder does.
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

pub(super) fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    match bytes.len() {
        length @ 0..=0xff => out.extend_from_slice(&[0xc4, length as u8]),
        length @ 0x100..=0xffff => push(0xc5, &(length as u16).to_be_bytes(), out),
        length => push(0xc6, &(length as u32).to_be_bytes(), out),
    }
    out.extend_from_slice(bytes);
}

pub(super) fn write_array_length(length: usize, out: &mut Vec<u8>) {
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

/// Writes an extension; bodies of 1, 2, 4, 8 and 16 bytes have format codes of their own.
pub(super) fn write_extension(kind: u8, body: &[u8], out: &mut Vec<u8>) {
    match body.len() {
        1 => out.push(0xd4),
        2 => out.push(0xd5),
        4 => out.push(0xd6),
        8 => out.push(0xd7),
        16 => out.push(0xd8),
        length if length <= 0xff => out.extend_from_slice(&[0xc7, length as u8]),
        length if length <= 0xffff => {
            out.push(0xc8);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            out.push(0xc9);
            out.extend_from_slice(&(length as u32).to_be_bytes());
        }
    }
    out.push(kind);
    out.extend_from_slice(body);
}
