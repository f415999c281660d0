//! Values as text of the language.

use std::fmt::Write;

use groma_hcl::is_identifier;
use groma_provider::Name;
use groma_value::{Kind, Value};

/// The deepest nesting that is written; values of the language are never that deep.
const DEEPEST: usize = 512;

/// `value` as an expression, laid out as the formatter would.
pub(super) fn expression(value: &Value) -> String {
    // The formatter knows files; an expression alone is none.
    const NAME: &str = "x = ";
    let mut text = NAME.to_owned();
    write_value(value, &mut text, 0);
    text.push('\n');
    let formatted = groma_hcl::format(&text);
    let expression = formatted.strip_prefix(NAME).unwrap_or(&formatted);
    expression.strip_suffix('\n').unwrap_or(expression).to_owned()
}

/// An object or map as variables.
pub(super) fn tfvars(value: &Value) -> Result<Value, String> {
    let pairs: Vec<(&Name, &Value)> = match value.kind() {
        Kind::Object(object) => object.iter().collect(),
        Kind::Map(map) => map.iter().collect(),
        _ => {
            let found = value.ty().friendly_name();
            return Err(format!("an object is needed, whose attributes become the variables; this is {found}"));
        }
    };
    let mut text = String::new();
    for (name, value) in pairs {
        if !is_identifier(name) {
            return Err(format!(
                "{name:?} cannot be the name of a variable: names are made of letters, digits, - and _, and begin with a \
                 letter or _"
            ));
        }
        let _ = write!(text, "{name} = ");
        write_value(value, &mut text, 0);
        text.push('\n');
    }
    Ok(Value::string(groma_hcl::format(&text)))
}

fn write_value(value: &Value, text: &mut String, depth: usize) {
    if depth > DEEPEST {
        return text.push_str("null");
    }
    match value.kind() {
        // Unknown values never get here: the call would not have been made.
        Kind::Null | Kind::Unknown(_) => text.push_str("null"),
        Kind::Bool(flag) => text.push_str(if flag { "true" } else { "false" }),
        Kind::Number(number) => {
            let _ = write!(text, "{number}");
        }
        Kind::String(string) => write_quoted(string, text),
        Kind::List(values) | Kind::Set(values) | Kind::Tuple(values) => {
            text.push('[');
            for (position, value) in values.iter().enumerate() {
                text.push_str(if position > 0 { ", " } else { "" });
                write_value(value, text, depth + 1);
            }
            text.push(']');
        }
        Kind::Object(object) => write_pairs(object.iter(), text, depth),
        Kind::Map(map) => write_pairs(map.iter(), text, depth),
    }
}

fn write_pairs<'a>(pairs: impl ExactSizeIterator<Item = (&'a Name, &'a Value)>, text: &mut String, depth: usize) {
    if pairs.len() == 0 {
        return text.push_str("{}");
    }
    text.push_str("{\n");
    for (key, value) in pairs {
        if is_identifier(key) {
            text.push_str(key);
        } else {
            write_quoted(key, text);
        }
        text.push_str(" = ");
        write_value(value, text, depth + 1);
        text.push('\n');
    }
    text.push('}');
}

/// A string in quotes: escapes, and doubled template introducers.
fn write_quoted(string: &str, text: &mut String) {
    text.push('"');
    for (at, character) in string.char_indices() {
        match character {
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '$' | '%' if string.as_bytes().get(at + 1) == Some(&b'{') => text.extend([character, character]),
            _ if is_printable(character) => text.push(character),
            _ if u32::from(character) < 0x1_0000 => {
                let _ = write!(text, "\\u{:04x}", u32::from(character));
            }
            _ => {
                let _ = write!(text, "\\U{:08x}", u32::from(character));
            }
        }
    }
    text.push('"');
}

/// Letters, marks, numbers, punctuation, symbols and the plain space.
fn is_printable(character: char) -> bool {
    // After another character the standard library escapes just what is not printable, and leaves marks alone.
    let mut pair = [b'a', 0, 0, 0, 0];
    let length = pair.get_mut(1..).map_or(0, |rest| character.encode_utf8(rest).len());
    match pair.get(..=length).and_then(|pair| std::str::from_utf8(pair).ok()) {
        Some(pair) => character.is_ascii_graphic() || character == ' ' || pair.escape_debug().eq(pair.chars()),
        None => false,
    }
}
