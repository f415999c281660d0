//! Values as a person reads them, in the console and in the list of outputs.

use std::fmt::Write as _;

use groma_diagnostics::{Diagnostics, quoted};
use groma_hcl::{Expression, ExpressionKind};
use groma_value::{Kind, Marks, Redacted, Type, Value};

use crate::evaluate::{argument_of_type, evaluate};
use crate::scope::Scope;

/// The rendering of a value as the console and `output` print it: an expression of the language, as far as there is
/// one; sensitive, ephemeral and unknown values are words in parentheses.
pub fn format(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value, 0);
    out
}

/// As [`format()`], showing sensitive values too.
pub fn format_revealed(value: &Value) -> String {
    // An ephemeral value stays hidden: only the sensitive mark is lifted.
    let revealed = value.transform(|_, value| {
        let (plain, marks) = value.unmark();
        plain.with_marks(&marks.without(&Marks::SENSITIVE))
    });
    format(&revealed)
}

fn write_value(out: &mut String, value: &Value, indent: usize) {
    // Unknown comes before sensitive, as in Terraform.
    if !value.is_known() {
        return out.push_str("(known after apply)");
    }
    if let Some(redacted) = Redacted::of(value.marks()) {
        return out.push_str(&redacted.to_string());
    }
    match value.kind() {
        Kind::Unknown(_) => out.push_str("(known after apply)"),
        Kind::Null => write_null(out, &value.ty()),
        Kind::Bool(truth) => out.push_str(if truth { "true" } else { "false" }),
        // Writing to a String cannot fail.
        Kind::Number(number) => {
            let _ = write!(out, "{number}");
        }
        Kind::String(text) if text.contains('\n') => write_lines(out, text, indent),
        Kind::String(text) => out.push_str(&quoted(text)),
        Kind::List(elements) => write_sequence(out, ("tolist(", ")"), elements, indent),
        Kind::Set(elements) => write_sequence(out, ("toset(", ")"), elements, indent),
        Kind::Tuple(elements) => write_sequence(out, ("", ""), elements, indent),
        Kind::Map(map) => write_mapping(out, ("tomap(", ")"), map.iter(), indent),
        Kind::Object(object) => write_mapping(out, ("", ""), object.iter(), indent),
    }
}

fn write_null(out: &mut String, ty: &Type) {
    let text = match ty {
        Type::Dynamic => "null".to_owned(),
        Type::String => "tostring(null)".to_owned(),
        Type::Number => "tonumber(null)".to_owned(),
        Type::Bool => "tobool(null)".to_owned(),
        // tolist(null) alone would lose the element type, so it follows as a comment.
        Type::List(element) => format!("tolist(null) /* of {} */", element.friendly_name()),
        Type::Set(element) => format!("toset(null) /* of {} */", element.friendly_name()),
        Type::Map(element) => format!("tomap(null) /* of {} */", element.friendly_name()),
        Type::Object(_) | Type::Tuple(_) => format!("null /* {} */", ty.friendly_name()),
    };
    out.push_str(&text);
}

fn new_line(out: &mut String, indent: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
}

fn write_sequence(out: &mut String, (before, after): (&str, &str), elements: &[Value], indent: usize) {
    out.push_str(before);
    out.push('[');
    for element in elements {
        new_line(out, indent + 2);
        write_value(out, element, indent + 2);
        out.push(',');
    }
    if !elements.is_empty() {
        new_line(out, indent);
    }
    out.push(']');
    out.push_str(after);
}

fn write_mapping<'a>(
    out: &mut String,
    (before, after): (&str, &str),
    entries: impl ExactSizeIterator<Item = (&'a groma_value::Name, &'a Value)>,
    indent: usize,
) {
    out.push_str(before);
    out.push('{');
    let empty = entries.len() == 0;
    for (key, value) in entries {
        new_line(out, indent + 2);
        if key.contains('\n') {
            write_lines(out, key, indent + 2)
        } else {
            out.push_str(&quoted(key))
        }
        out.push_str(" = ");
        write_value(out, value, indent + 2);
    }
    if !empty {
        new_line(out, indent);
    }
    out.push('}');
    out.push_str(after);
}

/// A string of several lines as a heredoc, with a delimiter that is none of its lines.
fn write_lines(out: &mut String, text: &str, indent: usize) {
    let mut delimiter = "EOT".to_owned();
    // A line that equals the delimiter would end the heredoc early.
    while text.split('\n').any(|line| line.trim() == delimiter) {
        delimiter.push('_');
    }
    // Within other values the lines are indented, which only `<<-` removes again.
    out.push_str(if indent > 0 { "<<-" } else { "<<" });
    out.push_str(&delimiter);
    for line in text.split('\n') {
        new_line(out, indent);
        out.push_str(line);
    }
    new_line(out, indent);
    out.push_str(&delimiter);
}

/// A type as the console shows it: a type expression over several lines.
pub fn type_text(ty: &Type) -> String {
    let mut out = String::new();
    write_type(&mut out, ty, 0);
    out
}

fn write_type(out: &mut String, ty: &Type, indent: usize) {
    let nested = |out: &mut String, name: &str, element: &Type| {
        out.push_str(name);
        out.push('(');
        if !matches!(element, Type::Object(_) | Type::Tuple(_)) {
            write_type(out, element, indent);
        } else {
            new_line(out, indent + 4);
            write_type(out, element, indent + 4);
            out.push(',');
            new_line(out, indent);
        }
        out.push(')');
    };
    match ty {
        Type::Bool => out.push_str("bool"),
        Type::Number => out.push_str("number"),
        Type::String => out.push_str("string"),
        Type::Dynamic => out.push_str("dynamic"),
        Type::List(element) => nested(out, "list", element),
        Type::Set(element) => nested(out, "set", element),
        Type::Map(element) => nested(out, "map", element),
        Type::Object(object) => {
            out.push_str("object({");
            for (name, attribute) in object.iter() {
                new_line(out, indent + 4);
                out.push_str(name);
                out.push_str(": ");
                write_type(out, attribute, indent + 4);
                out.push(',');
            }
            if !object.is_empty() {
                new_line(out, indent);
            }
            out.push_str("})");
        }
        Type::Tuple(elements) => {
            out.push_str("tuple([");
            for element in elements.iter() {
                new_line(out, indent + 4);
                write_type(out, element, indent + 4);
                out.push(',');
            }
            if !elements.is_empty() {
                new_line(out, indent);
            }
            out.push_str("])");
        }
    }
}

/// Returns the console output for an expression: its value, or the type of the argument for a call of the function `type`, which only the
/// console
/// has.
///
/// Nothing if there is an error among the diagnostics.
pub fn answer(expression: &Expression, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Option<String> {
    // Kept apart, because `diagnostics` may already contain errors of other expressions.
    let mut found = Diagnostics::new();
    let text = match &expression.without_parentheses().kind {
        ExpressionKind::Call(call) if matches!(&*call.name.name, "type" | "core::type") => {
            argument_of_type(call, expression, scope, &mut found).map(|value| type_text(&value.ty()))
        }
        _ => Some(format(&evaluate(expression, scope, &mut found))),
    };
    let failed = found.has_errors();
    diagnostics.append(found);
    text.filter(|_| !failed)
}
