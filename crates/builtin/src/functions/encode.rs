//! Encoding of values in configuration syntax.

use std::fmt::Write;

use groma_hcl::{is_identifier, write_literal};
use groma_provider::Name;
use groma_value::{Kind, Value};

use super::error::CallError;

/// The maximum nesting depth, a guard for the stack; values of the language never reach it.
const MAX_DEPTH: usize = 512;

/// Encodes `value` as a formatted expression.
pub(super) fn expression(value: &Value) -> String {
    // The formatter accepts only complete files, so the expression is formatted as an argument.
    const NAME: &str = "x = ";
    let mut text = NAME.to_owned();
    write_value(value, &mut text, 0);
    text.push('\n');
    let formatted = groma_hcl::format(&text);
    let expression = formatted.strip_prefix(NAME).unwrap_or(&formatted);
    expression.strip_suffix('\n').unwrap_or(expression).to_owned()
}

/// Encodes an object or map as variable assignments.
pub(super) fn tfvars(value: &Value) -> Result<Value, CallError> {
    let pairs: Vec<(&Name, &Value)> = match value.kind() {
        Kind::Object(object) => object.iter().collect(),
        Kind::Map(map) => map.iter().collect(),
        _ => {
            let found = value.ty().friendly_name();
            return Err(CallError::NoObject(found));
        }
    };
    let mut text = String::new();
    for (name, value) in pairs {
        if !is_identifier(name) {
            return Err(CallError::VariableName(name.to_string()));
        }
        let _ = write!(text, "{name} = ");
        write_value(value, &mut text, 0);
        text.push('\n');
    }
    Ok(Value::string(groma_hcl::format(&text)))
}

fn write_value(value: &Value, text: &mut String, depth: usize) {
    if depth > MAX_DEPTH {
        return text.push_str("null");
    }
    match value.kind() {
        // Unknown values cannot occur: calls with unknown arguments are not made.
        Kind::Null | Kind::Unknown(_) => text.push_str("null"),
        Kind::Bool(flag) => text.push_str(if flag { "true" } else { "false" }),
        Kind::Number(number) => {
            let _ = write!(text, "{number}");
        }
        Kind::String(string) => write_literal(string, text),
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
            write_literal(key, text);
        }
        text.push_str(" = ");
        write_value(value, text, depth + 1);
        text.push('\n');
    }
    text.push('}');
}
