//! Rendering of configurations and function calls in HCL.

use std::fmt::Write;

use groma_hcl::write_literal;
use groma_provider::{Block, Item, Nesting};
use groma_value::{Kind as Shape, Value};

use crate::options::Kind;

/// Renders the resource block for `config`.
pub fn resource_text(type_name: &str, block: &Block, config: &Value) -> String {
    block_text(Kind::Resource, type_name, block, config)
}

/// Renders the block for `config` of a type in the given category.
pub(crate) fn block_text(kind: Kind, type_name: &str, block: &Block, config: &Value) -> String {
    let mut text = format!("{} \"{type_name}\" \"example\" {{\n", kind.block());
    if kind.has_config_block() {
        text.push_str("  config {\n");
        body(block, config, 2, &mut text);
        text.push_str("  }\n");
    } else {
        body(block, config, 1, &mut text);
    }
    text.push_str("}\n");
    text
}

/// Renders a function call.
pub(crate) fn call_text(name: &str, arguments: &[Value]) -> String {
    let mut text = format!("{name}(");
    for (position, argument) in arguments.iter().enumerate() {
        text.push_str(if position > 0 { ", " } else { "" });
        value(argument, 0, &mut text);
    }
    text.push_str(")\n");
    text
}

fn body(block: &Block, config: &Value, depth: usize, text: &mut String) {
    let Shape::Object(object) = config.kind() else { return };
    let margin = "  ".repeat(depth);
    for (slot, given) in block.slots().iter().zip(object.values()) {
        match &slot.item {
            Item::Attribute(_) if given.is_null() => {}
            Item::Attribute(_) => {
                let _ = write!(text, "{margin}{} = ", slot.name);
                value(given, depth, text);
                text.push('\n');
            }
            Item::Block(nested) => blocks(&slot.name, nested.nesting(), nested.block(), given, depth, text),
        }
    }
}

fn blocks(name: &str, nesting: Nesting, block: &Block, given: &Value, depth: usize, text: &mut String) {
    let margin = "  ".repeat(depth);
    let mut one = |label: Option<&str>, config: &Value| {
        let label = label.map(|label| format!(" {}", quoted(label))).unwrap_or_default();
        let _ = writeln!(text, "{margin}{name}{label} {{");
        body(block, config, depth + 1, text);
        let _ = writeln!(text, "{margin}}}");
    };
    match (nesting, given.kind()) {
        // A group block always exists, so it is rendered only if it contains something.
        (Nesting::Group, _) if given == block.empty_value() => {}
        (Nesting::Single | Nesting::Group, Shape::Object(_)) => one(None, given),
        (_, Shape::List(elements) | Shape::Set(elements) | Shape::Tuple(elements)) => {
            elements.iter().for_each(|element| one(None, element));
        }
        (_, Shape::Map(map)) => map.iter().for_each(|(key, element)| one(Some(key), element)),
        (_, Shape::Object(map)) => map.iter().for_each(|(key, element)| one(Some(key), element)),
        _ => {}
    }
}

fn value(given: &Value, depth: usize, text: &mut String) {
    match given.kind() {
        Shape::Null => text.push_str("null"),
        Shape::Unknown(_) => text.push_str("terraform_data.later.output # known after apply"),
        Shape::Bool(flag) => text.push_str(if flag { "true" } else { "false" }),
        Shape::Number(number) => {
            let _ = write!(text, "{number}");
        }
        Shape::String(string) => text.push_str(&quoted(string)),
        Shape::List(elements) | Shape::Set(elements) | Shape::Tuple(elements) => {
            text.push('[');
            for (position, element) in elements.iter().enumerate() {
                text.push_str(if position > 0 { ", " } else { "" });
                value(element, depth, text);
            }
            text.push(']');
        }
        Shape::Map(map) => pairs(map.iter(), depth, text),
        Shape::Object(object) => pairs(object.iter(), depth, text),
    }
}

fn pairs<'a>(pairs: impl Iterator<Item = (&'a groma_provider::Name, &'a Value)>, depth: usize, text: &mut String) {
    let margin = "  ".repeat(depth);
    text.push_str("{\n");
    for (key, element) in pairs.filter(|(_, element)| !element.is_null()) {
        let _ = write!(text, "{margin}  {} = ", quoted(key));
        value(element, depth + 1, text);
        text.push('\n');
    }
    let _ = write!(text, "{margin}}}");
}

/// The maximum length of a rendered string, in characters.
const MAX_LENGTH: usize = 200;

fn quoted(string: &str) -> String {
    let (shown, cut) = match string.char_indices().nth(MAX_LENGTH) {
        Some((end, _)) => (string.get(..end).unwrap_or_default(), "..."),
        None => (string, ""),
    };
    let mut text = String::with_capacity(shown.len() + 2);
    write_literal(shown, &mut text);
    // The ellipsis goes inside the quotes, so that the text remains a literal.
    text.insert_str(text.len() - 1, cut);
    text
}
