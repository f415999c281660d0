//! Content of a body by its schema: attributes and nested blocks.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_hcl::{Block as WrittenBlock, Body, BodySchema, Content};
use groma_lang::{ConstantScope, references};
use groma_provider::{Block, BodyDecoder, Item, NestedBlock, Nesting};
use serde_json::{Map, Value as Json, json};

use super::expression::{expression_json, reference_names};
use crate::views::json::value_json;

/// The expressions of a body that has only attributes, by their names.
pub(super) fn attributes_json(body: &Body) -> Map<String, Json> {
    let (attributes, _) = body.attributes();
    let expressions: BTreeMap<String, Json> = attributes
        .iter()
        .map(|attribute| (attribute.name.name.to_string(), expression_json(&attribute.expression)))
        .collect();
    expressions.into_iter().collect()
}

/// The expressions of a body, by attribute and nested block.
pub(super) fn body_json(body: &Body, block: &Block) -> Map<String, Json> {
    let content = content(body, block);
    let mut json = BTreeMap::new();
    for attribute in &content.attributes {
        json.insert(attribute.name.name.to_string(), expression_json(&attribute.expression));
    }
    for slot in block.slots() {
        let found: Vec<&WrittenBlock> = content.blocks.iter().filter(|found| found.kind.name == slot.name).collect();
        if found.is_empty() {
            continue;
        }
        let value = match &slot.item {
            Item::Block(nested) => Some(blocks_json(&found, nested)),
            Item::Attribute(attribute) if content.get(&slot.name).is_none() => {
                attribute.as_blocks().map(|nested| argument_json(&found, &nested))
            }
            Item::Attribute(_) => None,
        };
        json.extend(value.map(|value| (slot.name.to_string(), value)));
    }
    json.into_iter().collect()
}

/// Returns the content of a body that its schema defines.
fn content(body: &Body, block: &Block) -> Content {
    let mut schema = BodySchema::default();
    for slot in block.slots() {
        let name = slot.name.clone();
        match &slot.item {
            Item::Attribute(attribute) => {
                if !body.is_json() && attribute.may_be_blocks() {
                    schema = schema.block(name.clone(), &[]);
                }
                schema = schema.optional(name);
            }
            Item::Block(nested) => {
                let labels: &[&str] = if nested.nesting() == Nesting::Map { &["key"] } else { &[] };
                schema = schema.block(name, labels);
            }
        }
    }
    // Whatever repeats is not described, but in an override file it takes the place of blocks that would be.
    schema = schema.block("dynamic", &["type"]);
    body.partial_content(&schema).0
}

fn blocks_json(found: &[&WrittenBlock], nested: &NestedBlock) -> Json {
    let mut bodies = found.iter().map(|found| Json::Object(body_json(&found.body, nested.block())));
    match nested.nesting() {
        Nesting::Single | Nesting::Group => bodies.next().unwrap_or_default(),
        Nesting::List | Nesting::Set => bodies.collect(),
        Nesting::Map => {
            let keys = found.iter().filter_map(|found| found.labels.first().map(|label| label.value.to_string()));
            Json::Object(keys.zip(bodies).collect())
        }
    }
}

/// Returns blocks that are written for an attribute as one expression.
fn argument_json(found: &[&WrittenBlock], nested: &NestedBlock) -> Json {
    let mut json = Map::new();
    let mut names = Vec::new();
    found.iter().for_each(|found| add_references(&found.body, nested.block(), &mut names));
    if names.is_empty() {
        json.extend(constant(found, nested).map(|value| (String::from("constant_value"), value)));
    } else {
        json.insert("references".into(), json!(names));
    }
    Json::Object(json)
}

/// The value of blocks that need nothing to be worked out.
fn constant(found: &[&WrittenBlock], nested: &NestedBlock) -> Option<Json> {
    // In the order of the text, even of what becomes a set.
    let list = NestedBlock::new(Nesting::List, (**nested.block()).clone());
    let holder = Arc::new(Block::new(std::iter::empty::<(&str, _)>(), [("all", list)]));
    let blocks = found.iter().map(|found| {
        let mut block = (*found).clone();
        block.kind.name = "all".into();
        block
    });
    let body = Body::new(Vec::new(), blocks.collect(), found.first()?.body.span());
    let (value, problems) = BodyDecoder::new(&body, &holder).0.evaluate(&ConstantScope);
    let value = value.attribute("all").filter(|value| value.is_wholly_known());
    if problems.has_errors() { None } else { value.map(|value| value_json(&value)) }
}

fn add_references(body: &Body, block: &Block, names: &mut Vec<String>) {
    let content = content(body, block);
    for attribute in &content.attributes {
        let (found, _) = references(&attribute.expression);
        names.extend(found.iter().flat_map(reference_names));
    }
    for slot in block.slots() {
        if let Item::Attribute(attribute) = &slot.item
            && let Some(nested) = attribute.as_blocks()
        {
            let found = content.blocks.iter().filter(|found| found.kind.name == slot.name);
            found.for_each(|found| add_references(&found.body, nested.block(), names));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use groma_config::{LoadOptions, MemoryFiles, load};
    use groma_diagnostics::Sources;
    use groma_provider::Attribute;
    use groma_value::Type;

    #[test]
    fn blocks_in_the_place_of_an_argument_are_one_expression() {
        let rule = Type::object([("port", Type::Number), ("from", Type::list(Type::String))]);
        let block = Block::new(
            [("rule", Attribute::optional(Type::set(rule.clone()))), ("route", Attribute::optional(Type::list(rule)))],
            [] as [(&str, NestedBlock); 0],
        );
        let told = |body: &str| {
            let files = MemoryFiles::new().with("main.tf", format!("resource \"acme_net\" \"a\" {{\n{body}}}\n"));
            let (configuration, problems) = load(&LoadOptions::default(), &Sources::default(), &files);
            let root = &configuration.unwrap_or_else(|| panic!("{problems:?}")).root;
            Json::Object(body_json(&root.resources[0].body, &block))
        };
        assert_eq!(
            told("rule {\n  port = \"2\"\n}\nrule {\n  port = 1\n  from = [\"x\"]\n}\n"),
            json!({ "rule": { "constant_value": [{ "from": null, "port": 2 }, { "from": ["x"], "port": 1 }] } })
        );
        assert_eq!(
            told("rule {\n  port = var.a\n}\nroute {\n  port = 1\n  from = [local.b]\n}\nroute {\n  from = var.c\n}\n"),
            json!({ "rule": { "references": ["var.a"] }, "route": { "references": ["local.b", "var.c"] } })
        );
        assert_eq!(
            told("rule = []\nroute {\n  port = max(1, 2)\n}\n"),
            json!({
                "rule": { "constant_value": [] }, "route": {},
            })
        );
    }
}
