//! Configuration bodies, their expressions and the schemas that describe them, in JSON documents.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use groma_address::{Mode, Name, ProviderAddress, Resource as ResourceAddress};
use groma_diagnostics::Diagnostics;
use groma_engine::Plan;
use groma_hcl::{
    Block as WrittenBlock, Body, BodySchema, Content, Expression, ExpressionKind, LiteralKey, ObjectItem, Step,
};
use groma_lang::{ConstantScope, Reference, Referenced, evaluate_constant, references};
use groma_provider::{Block, BodyDecoder, Item, NestedBlock, Nesting, Schema};
use serde_json::{Map, Value as Json, json};

use crate::views::json::{compact, value_json};
use crate::views::state::StoredObject;

/// Returns the expressions of a body with only attributes, by name.
pub(super) fn attributes_json(body: &Body) -> Map<String, Json> {
    let (attributes, _) = body.attributes();
    let expressions: BTreeMap<String, Json> = attributes
        .iter()
        .map(|attribute| (attribute.name.name.to_string(), expression_json(&attribute.expression)))
        .collect();
    expressions.into_iter().collect()
}

/// Returns the expressions of a body with the schema `block`.
pub(super) fn body_json(body: &Body, block: &Block) -> Map<String, Json> {
    let content = content(body, block);
    // Sorted by name, as Go marshals maps.
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

/// Returns the content of a body that its schema declares.
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
    // Dynamic blocks are not described, but in an override file they replace blocks that would be.
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

/// Describes blocks that are written for an argument as a single expression.
fn argument_json(found: &[&WrittenBlock], nested: &NestedBlock) -> Json {
    let mut json = Map::new();
    let mut names = Vec::new();
    found.iter().for_each(|found| add_references(&found.body, nested.block(), &mut names));
    if names.is_empty() {
        json.extend(constant_blocks(found, nested).map(|value| (String::from("constant_value"), value)));
    } else {
        json.insert("references".into(), json!(names));
    }
    Json::Object(json)
}

/// Returns the value of blocks whose expressions are all constant.
fn constant_blocks(found: &[&WrittenBlock], nested: &NestedBlock) -> Option<Json> {
    // Decoded as a list, because Terraform keeps the order of the source even for sets.
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

/// Returns the JSON object that describes an expression.
pub(super) fn expression_json(expression: &Expression) -> Json {
    let (found, _) = references(expression);
    let mut json = Map::new();
    if let Some(constant) = as_written(expression).or_else(|| constant_value(expression)) {
        json.insert("constant_value".into(), constant);
    }
    // Terraform omits empty reference lists.
    if !found.is_empty() {
        let names: Vec<String> = found.iter().flat_map(reference_names).collect();
        json.insert("references".into(), json!(names));
    }
    Json::Object(json)
}

/// Returns the value of a constant expression, if JSON can represent it.
fn constant_value(expression: &Expression) -> Option<Json> {
    // Evaluation ignores references that do not affect the value.
    let value = evaluate_constant(expression, &mut Diagnostics::new());
    groma_value::json::encode(&value).is_ok().then(|| value_json(&value))
}

/// Returns the literal JSON of an expression in JSON syntax, whose strings count as constant even if they are templates with
/// references; `None` for native syntax.
fn as_written(expression: &Expression) -> Option<Json> {
    match &expression.kind {
        ExpressionKind::JsonString(string) => Some(Json::String(string.text.to_string())),
        ExpressionKind::Null | ExpressionKind::Bool(_) | ExpressionKind::Number(_) => constant_value(expression),
        ExpressionKind::Tuple(elements) => elements.iter().map(as_written).collect(),
        ExpressionKind::Object(items) => {
            let member = |item: &ObjectItem| match &item.key.kind {
                ExpressionKind::JsonString(key) => Some((key.text.to_string(), as_written(&item.value)?)),
                _ => None,
            };
            let members: BTreeMap<String, Json> = items.iter().map(member).collect::<Option<_>>()?;
            Some(Json::Object(members.into_iter().collect()))
        }
        _ => None,
    }
}

/// Returns a reference with all its prefixes, the longest first.
pub(super) fn reference_names(reference: &Referenced) -> Vec<String> {
    let mut name = reference.target.to_string();
    let mut names = vec![name.clone()];
    if let Some(key) = &reference.key {
        name.push_str(&key.to_string());
        // The output of a module instance does not refer to the whole module call.
        let is_output = matches!(reference.rest.first(), Some(Step::Attribute { .. }));
        if is_output && matches!(reference.target, Reference::Module(_)) {
            names.clear();
        }
        names.push(name.clone());
    }
    for step in &reference.rest {
        match step {
            Step::Attribute { name: attribute, .. } => {
                name.push('.');
                name.push_str(attribute);
            }
            Step::Index { key: LiteralKey::Number(digits), .. } => name.push_str(&format!("[{digits}]")),
            Step::Index { key: LiteralKey::String(key), .. } => {
                name.push_str(&format!("[{}]", compact(&key.to_string())))
            }
        }
        names.push(name.clone());
    }
    names.reverse();
    names
}

/// Schemas of resource types and provider configurations.
#[derive(Default)]
pub struct Schemas {
    /// Schemas of resource types, by mode and type.
    types: HashMap<(Mode, Name), Arc<Schema>>,
    /// Schemas of provider configurations.
    providers: HashMap<ProviderAddress, Arc<Schema>>,
}

impl Schemas {
    /// Creates an empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Collects the schemas of a plan and its prior state.
    pub fn of(plan: &Plan, prior: &[StoredObject]) -> Self {
        let mut schemas = Self::new();
        let deferred = plan.deferred.iter().map(|deferred| &deferred.change);
        let planned = plan.changes.iter().chain(deferred).map(|change| (&change.address, &change.schema));
        for (address, schema) in planned.chain(prior.iter().map(|object| (&object.address, &object.schema))) {
            let resource = &address.resource;
            schemas.entry((resource.mode, resource.type_name.clone())).or_insert_with(|| Arc::clone(schema));
        }
        schemas
    }

    /// Returns the schema of a resource type.
    pub(super) fn of_type(&self, address: &ResourceAddress) -> Option<&Schema> {
        self.types.get(&(address.mode, address.type_name.clone())).map(|schema| &**schema)
    }

    /// Returns the entry of a resource type.
    pub fn entry(&mut self, of: (Mode, Name)) -> Entry<'_, (Mode, Name), Arc<Schema>> {
        self.types.entry(of)
    }

    /// Returns the entry of a provider configuration.
    pub fn provider(&mut self, address: ProviderAddress) -> Entry<'_, ProviderAddress, Arc<Schema>> {
        self.providers.entry(address)
    }

    /// Returns the expressions of a provider block. Without the schema nested blocks are omitted, because their nesting mode is unknown.
    pub(super) fn provider_expressions(&self, address: &ProviderAddress, body: &Body) -> Map<String, Json> {
        match self.providers.get(address) {
            Some(schema) => body_json(body, &schema.block),
            None => attributes_json(body),
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
    fn blocks_for_an_argument_are_one_expression() {
        let rule = Type::object([("port", Type::Number), ("from", Type::list(Type::String))]);
        let block = Block::new(
            [("rule", Attribute::optional(Type::set(rule.clone()))), ("route", Attribute::optional(Type::list(rule)))],
            [] as [(&str, NestedBlock); 0],
        );
        let document = |body: &str| {
            let files = MemoryFiles::new().with("main.tf", format!("resource \"acme_net\" \"a\" {{\n{body}}}\n"));
            let (configuration, problems) = load(&LoadOptions::default(), &Sources::default(), &files);
            let root = &configuration.unwrap_or_else(|| panic!("{problems:?}")).root;
            Json::Object(body_json(&root.resources[0].body, &block))
        };
        assert_eq!(
            document("rule {\n  port = \"2\"\n}\nrule {\n  port = 1\n  from = [\"x\"]\n}\n"),
            json!({ "rule": { "constant_value": [{ "from": null, "port": 2 }, { "from": ["x"], "port": 1 }] } })
        );
        assert_eq!(
            document(
                "rule {\n  port = var.a\n}\nroute {\n  port = 1\n  from = [local.b]\n}\nroute {\n  from = var.c\n}\n"
            ),
            json!({ "rule": { "references": ["var.a"] }, "route": { "references": ["local.b", "var.c"] } })
        );
        assert_eq!(
            document("rule = []\nroute {\n  port = max(1, 2)\n}\n"),
            json!({
                "rule": { "constant_value": [] }, "route": {},
            })
        );
    }
}
