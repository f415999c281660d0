//! Configurations of a type from its schema: a minimal one, and one with every argument that can be added to it.

use std::fmt::Write as _;

use groma_provider::Use;
use groma_value::{Kind, Value};

use super::super::check::check;
use super::super::fields::{Change, Field, Fields};
use super::super::interpreted::Interpreted;
use super::super::plan::has_fixed;
use super::super::sampler::{Sampler, with_fixed};
use crate::Name;
use crate::schema::{Draw, Step};

/// Number of draws before a type counts as one without a valid configuration.
const DRAWS: u64 = 400;

/// The configurations of one object.
pub struct Generated {
    /// The arguments that the type requires.
    pub minimal: Value,
    /// All arguments that can be added without a replacement.
    pub extended: Value,
}

/// Generates the configurations of a type; none if no valid one was found. The same `seed` gives the same configurations.
pub fn generate(interpreted: &Interpreted, seed: u64) -> Option<Generated> {
    let (schema, fields) = (&*interpreted.schema, &interpreted.fields);
    // The service makes up identifiers, but not inside of objects that are missing.
    let holds_identifier = |property: &Name| {
        let nested = schema.primary_identifier.iter().filter(|pointer| pointer.steps().len() > 1);
        nested.filter_map(|pointer| pointer.steps().first()).any(|step| *step == Step::Property(property.clone()))
    };
    let required = |field: &Field| {
        let is_identifier = field.property.as_ref().is_some_and(holds_identifier) && !field.read_only();
        field.usage == Use::Required || field.needed || is_identifier
    };
    // Warnings are rules that the schemas have from other sources; the emulator enforces them.
    let is_valid = |config: &Value| check(schema, fields, config).is_empty() && has_all(fields, config, required);
    let mut sampler = Sampler { schema, draw: Draw(seed) };
    let first = replaced(fields, fields.block.empty_value(), |field| {
        required(field).then(|| sampler.value(field.node, &field.shape, 4)).flatten()
    });
    // Some types require one of several arguments, which only their rules say.
    let minimal = std::iter::once(first)
        .chain((1..DRAWS).map(|draw| Sampler { schema, draw: Draw(seed + draw) }.object(fields, 2)))
        .find(is_valid)?;
    let mut extended = minimal.clone();
    for (index, field) in fields.list.iter().enumerate() {
        let is_open = field.property.is_some() && !field.read_only() && field.change == Change::InPlace;
        let is_set =
            extended.as_object().and_then(|view| view.values().get(index)).is_some_and(|value| !value.is_null());
        if !is_open || is_set {
            continue;
        }
        // A new object with members that are fixed at creation needs a replacement.
        let value = sampler.value(field.node, &field.shape, 3).filter(|value| !has_fixed(&field.shape, value));
        let candidate =
            replaced(fields, &extended, |one| (one.attribute == field.attribute).then(|| value.clone()).flatten());
        if is_valid(&candidate) {
            extended = candidate;
        }
    }
    let extended = with_fixed(fields, &extended, &minimal);
    Some(Generated { minimal, extended })
}

/// Whether an object has a value for each of these fields.
fn has_all(fields: &Fields, object: &Value, needed: impl Fn(&Field) -> bool) -> bool {
    let values = object.as_object().map(|view| view.values()).unwrap_or_default();
    fields.list.iter().zip(values).all(|(field, value)| !needed(field) || !value.is_null())
}

/// Returns the object with other values where `value` returns one.
fn replaced(fields: &Fields, object: &Value, mut value: impl FnMut(&Field) -> Option<Value>) -> Value {
    fields.map(object, |field, old| value(field).unwrap_or_else(|| old.clone()))
}

/// Returns the resource block of a configuration.
pub fn block(resource_type: &str, config: &Value) -> String {
    let mut text = format!("resource \"{resource_type}\" \"this\" {{\n");
    for (name, value) in config.as_object().into_iter().flat_map(|view| view.iter()) {
        if !value.is_null() {
            let _ = write!(text, "  {name} = ");
            expression(value, &mut text);
            text.push('\n');
        }
    }
    text.push_str("}\n");
    text
}

fn expression(value: &Value, out: &mut String) {
    match value.kind() {
        Kind::Bool(flag) => out.push_str(if flag { "true" } else { "false" }),
        Kind::Number(number) => out.push_str(&number.to_string()),
        Kind::String(text) => {
            let quoted = serde_json::Value::from(text.to_string()).to_string();
            out.push_str(&quoted.replace("${", "$${").replace("%{", "%%{"));
        }
        Kind::List(values) | Kind::Set(values) | Kind::Tuple(values) => {
            out.push('[');
            for value in values {
                expression(value, out);
                out.push_str(", ");
            }
            out.push(']');
        }
        Kind::Map(view) => members(view.iter(), out),
        Kind::Object(view) => members(view.iter(), out),
        _ => out.push_str("null"),
    }
}

fn members<'a>(entries: impl Iterator<Item = (&'a Name, &'a Value)>, out: &mut String) {
    out.push('{');
    for (key, value) in entries.filter(|(_, value)| !value.is_null()) {
        let _ = write!(out, "{} = ", serde_json::Value::from(key.to_string()));
        expression(value, out);
        out.push_str(", ");
    }
    out.push('}');
}
