//! The main type of a schema node, of all the types that it allows.

use crate::schema::{JsonTypes, Node, NodeId, TypeSchema};

/// The main type of a node.
pub(super) enum Main {
    Bool,
    Integer,
    Number,
    Text,
    Json,
    Array,
    Map(NodeId),
    Object,
}

pub(super) fn main_type(schema: &TypeSchema, node: &Node) -> Main {
    let objects = node.types.contains(JsonTypes::OBJECT);
    if objects && node.type_order.len() == 2 && node.types.contains(JsonTypes::STRING) {
        return Main::Json;
    }
    let named = node
        .type_order
        .iter()
        .find(|one| **one != JsonTypes::NULL && (**one != JsonTypes::OBJECT || node.type_order.len() == 1));
    match named.copied() {
        Some(JsonTypes::BOOLEAN) => Main::Bool,
        Some(JsonTypes::INTEGER) => Main::Integer,
        Some(JsonTypes::NUMBER) => Main::Number,
        Some(JsonTypes::STRING) => Main::Text,
        Some(JsonTypes::ARRAY) => Main::Array,
        _ => untyped(schema, node),
    }
}

fn untyped(schema: &TypeSchema, node: &Node) -> Main {
    let branches = || node.one_of.iter().map(|branch| schema.node(*branch));
    // A branch that takes any text is a document of the author's, whatever the other branches say.
    let document = branches().any(|branch| branch.types.contains(JsonTypes::OBJECT.union(JsonTypes::STRING)));
    let branches_with_properties = !document && branches().any(|branch| !branch.properties.is_empty());
    if !node.properties.is_empty() {
        Main::Object
    } else if let Some((_, value)) = node.patterns.first() {
        Main::Map(*value)
    } else if branches_with_properties {
        Main::Object
    } else if node.items.is_some() && !node.types.contains(JsonTypes::OBJECT) {
        Main::Array
    } else if node.type_order.is_empty() && is_plain_text(node) {
        Main::Text
    } else {
        Main::Json
    }
}

/// A node without a type that can only mean a string.
fn is_plain_text(node: &Node) -> bool {
    let described = node.pattern.is_some() || node.max_length.is_some() || node.min_length.is_some();
    let enumerated = !node.enumeration.is_empty() && node.enumeration.iter().all(serde_json::Value::is_string);
    let formatted = node.format.as_deref().is_some_and(|format| format != "json");
    enumerated || ((described || formatted) && node.format.as_deref() != Some("json"))
}
