//! Generated configuration: the resource blocks of `-generate-config-out` for imports without a block, and the blocks that `query`
//! generates for found objects.
//!
//! Computed and deprecated attributes are omitted; sensitive and write-only ones are written as null.

use std::fmt::Write as _;

use groma_diagnostics::Diagnostics;
use groma_hcl::{is_identifier, write_literal};
use groma_provider::{
    Attribute, AttributeType, Block, Checked, Item, Name, Nesting, ObjectNesting, ObjectSchema, Subject, Use,
};
use groma_value::{Kind, Value, json};

/// Returns the configuration value of the block that [`resource_text`] generates: the object without omitted attributes.
pub(crate) fn config_of(block: &Block, object: &Value) -> Value {
    part(block, object, Level::Resource)
}

/// Generates the block `resource "TYPE" "NAME"` for an object, without a line feed at its end. `provider` is the value of the argument
/// of that name.
pub(crate) fn resource_text(
    (type_name, name): (&str, &str),
    provider: Option<&str>,
    block: &Block,
    object: &Value,
) -> String {
    let mut text = format!("resource \"{type_name}\" \"{name}\" {{\n");
    if let Some(provider) = provider {
        let _ = writeln!(text, "provider = {provider}");
    }
    body(block, object, Level::Resource, &mut text);
    text.push_str("}\n");
    groma_hcl::format(&text).trim_end().to_owned()
}

/// Generates the `import` block for an object with a generated resource block, without a line feed at its end.
pub(crate) fn import_text((type_name, name): (&str, &str), provider: Option<&str>, identity: &Value) -> String {
    let mut text = format!("import {{\nto = {type_name}.{name}\n");
    if let Some(provider) = provider {
        let _ = writeln!(text, "provider = {provider}");
    }
    text.push_str("identity = ");
    plain(identity, &mut text);
    text.push_str("\n}\n");
    groma_hcl::format(&text).trim_end().to_owned()
}

/// Returns the object to generate configuration from: the answer of the provider's `GenerateResourceConfig` call if it supports that,
/// else the object itself. `None` after an error.
pub(crate) async fn provider_config(
    provider: &Checked,
    subject: &Subject<'_>,
    object: &Value,
    diagnostics: &mut Diagnostics,
) -> Option<Value> {
    let Some(answer) = provider.generate_config(subject, object) else { return Some(object.clone()) };
    let (config, problems) = answer.await;
    diagnostics.append(problems);
    config
}

/// The level of a block. The identifier of a resource is not an argument at the top level, even if the schema allows it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Resource,
    Inner,
}

/// The treatment of an attribute in generated configuration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Treatment {
    Omitted,
    /// Written as null.
    Null,
    Value,
}

fn treatment(name: &str, attribute: &Attribute, level: Level) -> Treatment {
    let is_identifier = level == Level::Resource && name == "id" && attribute.usage() == Use::OptionalComputed;
    if attribute.usage() == Use::Computed || attribute.deprecation().is_some() || is_identifier {
        return Treatment::Omitted;
    }
    if attribute.is_sensitive() || attribute.is_write_only() { Treatment::Null } else { Treatment::Value }
}

fn part(block: &Block, object: &Value, level: Level) -> Value {
    let (object, _) = object.unmark();
    let Some(view) = object.as_object() else { return object };
    let values = block.slots().iter().map(|slot| {
        let value = view.get(&slot.name).cloned().unwrap_or_else(|| Value::null(slot.item.ty()));
        match &slot.item {
            Item::Attribute(attribute) if treatment(&slot.name, attribute, level) != Treatment::Value => {
                Value::null(attribute.ty())
            }
            Item::Attribute(attribute) => match attribute.nested_type() {
                Some(schema) => each(&value, &|one| part(schema.object(), one, Level::Inner)),
                None => read_back(value.unmark_deep().0),
            },
            Item::Block(nested) if nested.block().deprecation().is_none() => {
                each(&value, &|one| part(nested.block(), one, Level::Inner))
            }
            Item::Block(nested) => nested.empty_value().clone(),
        }
    });
    block.object(values.collect())
}

/// Returns a value as it is after writing and parsing. JSON strings are written as calls of `jsonencode`, which normalizes white space.
fn read_back(value: Value) -> Value {
    let encoded = match value.kind() {
        Kind::String(string) => structured(string).and_then(|decoded| json::encode(&decoded).ok()),
        _ => None,
    };
    encoded.map_or(value, Value::string)
}

/// Returns a collection of the same kind with `change` applied to each element.
fn each(value: &Value, change: &dyn Fn(&Value) -> Value) -> Value {
    let (value, _) = value.unmark();
    let changed = |values: &[Value]| -> Vec<Value> { values.iter().map(change).collect() };
    match (value.kind(), value.ty()) {
        (Kind::Object(_), _) => change(&value),
        (Kind::List(values), groma_value::Type::List(element)) => Value::list((*element).clone(), changed(values)),
        (Kind::Set(values), groma_value::Type::Set(element)) => Value::set((*element).clone(), changed(values)),
        (Kind::Tuple(values), _) => Value::tuple(changed(values)),
        (Kind::Map(map), groma_value::Type::Map(element)) => {
            Value::map((*element).clone(), map.iter().map(|(key, one)| (key.clone(), change(one))))
        }
        _ => value,
    }
}

fn body(block: &Block, object: &Value, level: Level, out: &mut String) {
    attributes(block, object, level, out);
    let (object, _) = object.unmark();
    let Some(view) = object.as_object() else { return };
    for (name, nested) in block.blocks() {
        let Some(value) = view.get(name).map(|value| value.unmark().0) else { continue };
        if nested.block().deprecation().is_some() {
            continue;
        }
        match (nested.nesting(), value.kind()) {
            (Nesting::Single | Nesting::Group, Kind::Object(_)) => inner(name, None, nested.block(), &value, out),
            (_, Kind::List(values) | Kind::Set(values) | Kind::Tuple(values)) => {
                values.iter().for_each(|one| inner(name, None, nested.block(), one, out));
            }
            (_, Kind::Map(map)) => map.iter().for_each(|(key, one)| inner(name, Some(key), nested.block(), one, out)),
            (_, Kind::Object(map)) => {
                map.iter().for_each(|(key, one)| inner(name, Some(key), nested.block(), one, out));
            }
            _ => {}
        }
    }
}

fn inner(name: &str, label: Option<&Name>, block: &Block, object: &Value, out: &mut String) {
    out.push_str(name);
    if let Some(label) = label {
        out.push(' ');
        write_literal(label, out);
    }
    out.push_str(" {\n");
    body(block, object, Level::Inner, out);
    out.push_str("}\n");
}

fn attributes(block: &Block, object: &Value, level: Level, out: &mut String) {
    let (object, _) = object.unmark();
    for (name, attribute) in block.attributes() {
        let treatment = treatment(name, attribute, level);
        let found = object.as_object().and_then(|view| view.get(name));
        if treatment == Treatment::Omitted || is_left_to_provider(attribute, found) {
            continue;
        }
        let _ = write!(out, "{name} = ");
        match (treatment, found) {
            (Treatment::Null, _) => {
                out.push_str(if attribute.is_sensitive() { "null # sensitive" } else { "null" });
            }
            (_, Some(found)) => match attribute.kind() {
                AttributeType::Nested(schema) => nested_attribute(schema, found, out),
                AttributeType::Type(_) => value(found, out),
            },
            (_, None) => out.push_str("null"),
        }
        out.push('\n');
    }
}

/// Whether an attribute can be omitted because it is null and the provider chooses its value if it is not configured.
fn is_left_to_provider(attribute: &Attribute, found: Option<&Value>) -> bool {
    attribute.usage() == Use::OptionalComputed && found.is_none_or(Value::is_null)
}

fn nested_attribute(schema: &ObjectSchema, found: &Value, out: &mut String) {
    let (found, _) = found.unmark();
    let object = |one: &Value, out: &mut String| {
        if one.is_null() {
            return out.push_str("null");
        }
        out.push_str("{\n");
        attributes(schema.object(), one, Level::Inner, out);
        out.push('}');
    };
    match (schema.nesting(), found.kind()) {
        (ObjectNesting::Single, Kind::Object(_)) => object(&found, out),
        (_, Kind::List(values) | Kind::Set(values) | Kind::Tuple(values)) => {
            out.push_str("[\n");
            for one in values {
                object(one, out);
                out.push_str(",\n");
            }
            out.push(']');
        }
        (_, Kind::Map(map)) if map.is_empty() => out.push_str("{\n}"),
        (_, Kind::Map(map)) => keyed(map.iter(), object, out),
        (_, Kind::Object(map)) => keyed(map.iter(), object, out),
        _ => out.push_str("null"),
    }
}

fn keyed<'v>(
    entries: impl Iterator<Item = (&'v Name, &'v Value)>,
    write: impl Fn(&Value, &mut String),
    out: &mut String,
) {
    let mut entries = entries.peekable();
    if entries.peek().is_none() {
        return out.push_str("{}");
    }
    out.push_str("{\n");
    for (key, one) in entries {
        if is_identifier(key) {
            out.push_str(key);
        } else {
            write_literal(key, out);
        }
        out.push_str(" = ");
        write(one, out);
        out.push('\n');
    }
    out.push('}');
}

/// Appends a value as an expression, with JSON strings as calls of `jsonencode`.
pub(crate) fn value(found: &Value, out: &mut String) {
    let (found, _) = found.unmark();
    match found.kind() {
        Kind::Null | Kind::Unknown(_) => out.push_str("null"),
        Kind::Bool(truth) => out.push_str(if truth { "true" } else { "false" }),
        Kind::Number(number) => {
            let _ = write!(out, "{number}");
        }
        Kind::String(string) => match structured(string) {
            Some(decoded) => {
                out.push_str("jsonencode(");
                plain(&decoded, out);
                out.push(')');
            }
            None => write_literal(string, out),
        },
        _ => plain(&found, out),
    }
}

/// Appends a value as an expression, with all strings as literals.
fn plain(found: &Value, out: &mut String) {
    let (found, _) = found.unmark();
    match found.kind() {
        Kind::String(string) => write_literal(string, out),
        Kind::List(values) | Kind::Set(values) | Kind::Tuple(values) => {
            out.push('[');
            for (at, one) in values.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                plain(one, out);
            }
            out.push(']');
        }
        Kind::Map(map) => keyed(map.iter(), plain, out),
        Kind::Object(object) => keyed(object.iter(), plain, out),
        _ => value(&found, out),
    }
}

/// Parses a string as JSON, if it holds an object or an array.
fn structured(string: &str) -> Option<Value> {
    if !string.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let ty = json::implied_type(string.as_bytes()).ok()?;
    json::from_json(string.as_bytes(), &ty).ok()
}
