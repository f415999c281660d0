//! Functions that encode and decode text: JSON, base 64, URLs, tables, character sets.

use std::collections::HashSet;
use std::io::Read as _;
use std::sync::Arc;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use flate2::read::GzDecoder;
use groma_value::{CodecError, Refinement, Shape, Type, Value, json};

use super::mapping::shown;
use super::signature::{Accepts, Arguments, Function, FunctionError, Outcome, Parameter};
use super::{csv, gzip, yaml};

pub(super) fn functions() -> Vec<Function> {
    let text = Parameter::text;
    let of_text = |name, body| Function::fixed(name, Type::String, body).takes(Parameter::text("str"));
    vec![
        Function::fixed("jsonencode", Type::String, jsonencode)
            .takes(Parameter::any("val").accepting(Accepts::ANY_UNMARKED)),
        Function::inferred("jsondecode", jsondecode_type, jsondecode).takes(text("str")).nullable(),
        Function::fixed("yamlencode", Type::String, yamlencode)
            .takes(Parameter::any("value").accepting(Accepts::NULL | Accepts::DYNAMIC | Accepts::UNKNOWN))
            .nullable(),
        Function::fixed("yamldecode", Type::Dynamic, yamldecode).takes(text("src")).nullable(),
        of_text("base64encode", |call| Ok(Value::string(STANDARD.encode(call.text(0))))),
        Function::fixed("base64decode", Type::String, base64decode).takes(text("str").accepting(Accepts::MARKED)),
        of_text("base64gzip", |call| Ok(Value::string(STANDARD.encode(gzip::packed(call.text(0).as_bytes()))))),
        Function::fixed("base64gunzip", Type::String, base64gunzip).takes(text("str").accepting(Accepts::MARKED)),
        of_text("urlencode", |call| Ok(Value::string(url_encoded(call.text(0))))),
        of_text("urldecode", urldecode),
        Function::fixed("csvdecode", Type::Dynamic, csvdecode).takes(text("str")),
        Function::fixed("textencodebase64", Type::String, textencode).takes(text("string")).takes(text("encoding")),
        Function::fixed("textdecodebase64", Type::String, textdecode).takes(text("source")).takes(text("encoding")),
    ]
}

/// A known value as JSON on one line.
pub(super) fn json_text(value: &Value) -> Result<String, CodecError> {
    json::encode(value)
}

fn jsonencode(arguments: &Arguments<'_>) -> Outcome {
    let value = arguments.value(0);
    if value.is_wholly_known() {
        return json_text(&value).map(Value::string).map_err(FunctionError::of);
    }
    // A null value would be encoded as `null`, whatever its type.
    if !value.is_definitely_not_null() {
        return Ok(Value::unknown(Type::String));
    }
    // The type decides the first character, from which jsondecode determines its result type.
    let first = match value.ty() {
        Type::String => "\"",
        Type::Object(_) | Type::Map(_) => "{",
        Type::Tuple(_) | Type::List(_) | Type::Set(_) => "[",
        _ => "",
    };
    Ok(Value::refined(Type::String, Refinement::NOT_NULL.full_prefix(first)))
}

/// Determines the result type from the start of a JSON text.
fn jsondecode_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    let Some(source) = arguments.first() else { return Ok(Type::Dynamic) };
    if source.is_known() {
        return Ok(Type::Dynamic);
    }
    let known = crate::ranges::prefix(source);
    Ok(match known.trim_start().chars().next() {
        Some('"') => Type::String,
        Some('t' | 'f') => Type::Bool,
        Some('-' | '0'..='9' | '.') => Type::Number,
        None | Some('{' | '[' | 'n') => Type::Dynamic,
        Some(other) => {
            let problem = format!("no JSON document begins with {other:?}");
            return Err(FunctionError::argument(0, problem));
        }
    })
}

fn jsondecode(arguments: &Arguments<'_>) -> Outcome {
    json::decode(arguments.text(0).as_bytes()).map_err(|problem| FunctionError::new(problem.to_string()))
}

fn yamlencode(arguments: &Arguments<'_>) -> Outcome {
    let value = arguments.value(0);
    if !value.is_wholly_known() {
        return Ok(Value::unknown(Type::String));
    }
    Ok(Value::string(yaml::encode(&value)))
}

fn yamldecode(arguments: &Arguments<'_>) -> Outcome {
    yaml::decode(arguments.text(0)).map_err(FunctionError::of)
}

fn decoded_argument(value: &Value) -> Result<Vec<u8>, FunctionError> {
    decoded(value.as_str().unwrap_or_default())
        .ok_or_else(|| FunctionError::new(format!("failed to decode base64 data {}", shown(value))))
}

fn utf8(bytes: Vec<u8>) -> Result<String, FunctionError> {
    String::from_utf8(bytes).map_err(|_| FunctionError::new("the decoded bytes are no text in UTF-8"))
}

fn base64decode(arguments: &Arguments<'_>) -> Outcome {
    let value = arguments.value(0);
    Ok(Value::string(utf8(decoded_argument(&value)?)?).with_marks(value.marks()))
}

fn base64gunzip(arguments: &Arguments<'_>) -> Outcome {
    // A small text can unpack to any size.
    const MOST: u64 = 256 << 20;
    let value = arguments.value(0);
    let bytes = decoded_argument(&value)?;
    let mut unpacked = Vec::new();
    GzDecoder::new(bytes.as_slice())
        .take(MOST + 1)
        .read_to_end(&mut unpacked)
        .map_err(|problem| FunctionError::new(format!("failed to decompress: {problem}")))?;
    if unpacked.len() as u64 > MOST {
        return Err(FunctionError::new(format!("the decompressed text has more than {MOST} bytes")));
    }
    Ok(Value::string(utf8(unpacked)?).with_marks(value.marks()))
}

/// As in the query of a URL: spaces become plus signs.
fn url_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn urldecode(arguments: &Arguments<'_>) -> Outcome {
    let text = arguments.text(0);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let code = after.get(..2).filter(|code| code.iter().all(u8::is_ascii_hexdigit));
                let code = code.and_then(|code| std::str::from_utf8(code).ok());
                let Some(code) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) else {
                    let escape =
                        String::from_utf8_lossy(after.get(..after.len().min(2)).unwrap_or_default()).into_owned();
                    return Err(FunctionError::new(format!("failed to decode URL: invalid URL escape \"%{escape}\"")));
                };
                bytes.push(code);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => bytes.push(*byte),
        }
    }
    Ok(Value::string(utf8(bytes)?))
}

/// The rows of a table; the first one holds the names.
fn csv_rows(text: &str) -> Result<(Vec<String>, Vec<Vec<String>>), FunctionError> {
    let rows = csv::rows(text).map_err(FunctionError::of)?;
    let mut rows = rows.into_iter();
    let Some((_, names)) = rows.next() else { return Err(FunctionError::new("missing header line")) };
    let mut seen = HashSet::new();
    if let Some(name) = names.iter().find(|name| !seen.insert(name.as_str())) {
        return Err(FunctionError::new(format!("duplicate column name {name:?}")));
    }
    let mut out = Vec::new();
    for (line, row) in rows {
        if row.len() != names.len() {
            return Err(FunctionError::new(format!("CSV parse error on line {line}: wrong number of fields")));
        }
        out.push(row);
    }
    Ok((names, out))
}

fn csvdecode(arguments: &Arguments<'_>) -> Outcome {
    let (names, rows) = csv_rows(arguments.text(0))?;
    let shape = Arc::new(Shape::new(names.iter().map(String::as_str)));
    // The values of an object are sorted by name, not by column.
    let columns: Vec<usize> =
        shape.names().iter().filter_map(|name| names.iter().position(|column| column.as_str() == &**name)).collect();
    let object = |row: Vec<String>| {
        let values = columns.iter().map(|column| Value::string(row.get(*column).map_or("", String::as_str))).collect();
        Value::object_shaped(&shape, values)
    };
    let ty = Type::object(names.iter().map(|name| (name.as_str(), Type::String)));
    Ok(Value::list(ty, rows.into_iter().map(object).collect()))
}

#[derive(Clone, Copy)]
enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    fn bytes(self, unit: u16) -> [u8; 2] {
        match self {
            Self::Little => unit.to_le_bytes(),
            Self::Big => unit.to_be_bytes(),
        }
    }

    fn unit(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    fn text(self, bytes: &[u8]) -> Option<String> {
        let (pairs, rest) = bytes.as_chunks::<2>();
        let units: Vec<u16> = pairs.iter().map(|pair| self.unit(*pair)).collect();
        if rest.is_empty() { String::from_utf16(&units).ok() } else { None }
    }
}

/// The character sets that are known; the first few need no table.
enum CharacterSet {
    Utf16(ByteOrder),
    /// By its byte order mark; big endian without one.
    Utf16Marked,
    Latin1,
    Latin5,
    Ascii,
    Other(&'static encoding_rs::Encoding),
}

/// In which characters Latin 5 differs from Latin 1, by their bytes. Browsers take both for other sets, with more characters.
const LATIN_5: [(u8, char); 6] = [(0xD0, 'Ğ'), (0xDD, 'İ'), (0xDE, 'Ş'), (0xF0, 'ğ'), (0xFD, 'ı'), (0xFE, 'ş')];

fn latin_5_byte(character: char) -> Option<u8> {
    match LATIN_5.iter().find(|(_, other)| *other == character) {
        Some((byte, _)) => Some(*byte),
        None => u8::try_from(u32::from(character)).ok().filter(|byte| latin_5_character(*byte) == character),
    }
}

fn latin_5_character(byte: u8) -> char {
    LATIN_5.iter().find(|(other, _)| *other == byte).map_or(char::from(byte), |(_, character)| *character)
}

fn character_set(name: &str) -> Result<CharacterSet, FunctionError> {
    Ok(match name.to_ascii_uppercase().as_str() {
        "UTF-16LE" | "CSUTF16LE" => CharacterSet::Utf16(ByteOrder::Little),
        "UTF-16BE" | "CSUTF16BE" => CharacterSet::Utf16(ByteOrder::Big),
        "UTF-16" | "CSUTF16" => CharacterSet::Utf16Marked,
        "ISO-8859-1" | "ISO_8859-1" | "LATIN1" | "L1" | "ISO_8859-1:1987" | "IBM819" | "CP819" | "ISO-IR-100"
        | "CSISOLATIN1" => CharacterSet::Latin1,
        "ISO-8859-9" | "ISO_8859-9" | "LATIN5" | "L5" | "ISO_8859-9:1989" | "ISO-IR-148" | "CSISOLATIN5" => {
            CharacterSet::Latin5
        }
        "US-ASCII" | "ASCII" | "ISO646-US" | "ANSI_X3.4-1968" | "ANSI_X3.4-1986" | "ISO_646.IRV:1991" | "ISO-IR-6"
        | "US" | "IBM367" | "CP367" | "CSASCII" => CharacterSet::Ascii,
        "CSUTF8" => CharacterSet::Other(encoding_rs::UTF_8),
        "CP936" | "MS936" | "WINDOWS-936" => CharacterSet::Other(encoding_rs::GBK),
        "LATIN8" | "L8" | "ISO-IR-199" | "ISO-CELTIC" => CharacterSet::Other(encoding_rs::ISO_8859_14),
        "LATIN10" | "L10" | "ISO-IR-226" => CharacterSet::Other(encoding_rs::ISO_8859_16),
        // What browsers refuse to read is one encoding in their table, which writes UTF-8.
        other => match encoding_rs::Encoding::for_label_no_replacement(other.as_bytes()) {
            Some(encoding) => CharacterSet::Other(encoding),
            None => {
                let problem = format!("there is no encoding with the IANA name or alias {name:?} here");
                return Err(FunctionError::argument(1, problem));
            }
        },
    })
}

fn textencode(arguments: &Arguments<'_>) -> Outcome {
    let (text, name) = (arguments.text(0), arguments.text(1));
    let bytes = match character_set(name)? {
        CharacterSet::Utf16(order) => Some(text.encode_utf16().flat_map(|unit| order.bytes(unit)).collect()),
        // Without a stated byte order, Go writes big endian after a byte order mark.
        CharacterSet::Utf16Marked => {
            let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
            Some(units.flat_map(|unit| ByteOrder::Big.bytes(unit)).collect())
        }
        CharacterSet::Latin1 => text.chars().map(|character| u8::try_from(u32::from(character)).ok()).collect(),
        CharacterSet::Latin5 => text.chars().map(latin_5_byte).collect(),
        CharacterSet::Ascii => text.is_ascii().then(|| text.as_bytes().to_vec()),
        CharacterSet::Other(encoding) => {
            let (bytes, _, unmappable) = encoding.encode(text);
            (!unmappable).then(|| bytes.into_owned())
        }
    };
    let bytes: Vec<u8> = bytes.ok_or_else(|| {
        FunctionError::argument(0, format!("the string has characters for which {name} has no bytes"))
    })?;
    Ok(Value::string(STANDARD.encode(bytes)))
}

fn textdecode(arguments: &Arguments<'_>) -> Outcome {
    let name = arguments.text(1);
    let set = character_set(name)?;
    let bytes =
        decoded(arguments.text(0)).ok_or_else(|| FunctionError::argument(0, "the given value is not valid base64"))?;
    let text = match set {
        CharacterSet::Utf16(order) => order.text(&bytes),
        CharacterSet::Utf16Marked => match bytes.as_slice() {
            [0xFF, 0xFE, rest @ ..] => ByteOrder::Little.text(rest),
            [0xFE, 0xFF, rest @ ..] | rest => ByteOrder::Big.text(rest),
        },
        CharacterSet::Latin1 => Some(bytes.iter().map(|byte| char::from(*byte)).collect()),
        CharacterSet::Latin5 => Some(bytes.iter().map(|byte| latin_5_character(*byte)).collect()),
        CharacterSet::Ascii => String::from_utf8(bytes).ok().filter(|text| text.is_ascii()),
        CharacterSet::Other(encoding) => {
            encoding.decode_without_bom_handling_and_without_replacement(&bytes).map(std::borrow::Cow::into_owned)
        }
    };
    text.map(Value::string)
        .ok_or_else(|| FunctionError::argument(0, format!("the bytes are not valid in the character set {name}")))
}

// Go's decoder, and therefore Terraform's, accepts trailing bits that are not zero.
const ENGINE: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// Decodes `text`: padding is required, line breaks between the characters are ignored.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    if text.contains(['\n', '\r']) {
        return ENGINE.decode(text.replace(['\n', '\r'], "")).ok();
    }
    ENGINE.decode(text).ok()
}
