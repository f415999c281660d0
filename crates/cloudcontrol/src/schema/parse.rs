//! From a schema document to the model.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::SchemaError;
use super::model::{
    Conditional, Definition, ElementOrder, Handler, Handlers, Hints, JsonTypes, Node, NodeId, NumberRules, Tagging,
    TypeSchema,
};
use super::pattern::Pattern;
use super::pointer::{Pointer, PointerSet};
use crate::Name;

/// Maximal nesting depth of definitions.
const DEEPEST: usize = 96;

/// Parses a schema document.
pub fn parse(text: &str) -> Result<TypeSchema, SchemaError> {
    parse_document(serde_json::from_str(text).map_err(|error| SchemaError::Document(error.to_string()))?)
}

/// Parses a schema document that is JSON already.
pub(super) fn parse_document(document: Json) -> Result<TypeSchema, SchemaError> {
    let Json::Object(document) = document else {
        return Err(SchemaError::Document("it is not an object".to_owned()));
    };
    let type_name = document
        .get("typeName")
        .and_then(Json::as_str)
        .ok_or_else(|| SchemaError::Document("it has no typeName".to_owned()))?;
    let mut parser = Parser::new(&document);
    let root = parser.object_node(&document, 0)?;
    let nodes = parser.finish();
    let list = |key: &str| pointers(document.get(key));
    let read_only_list = list("readOnlyProperties");
    let write_only_list = list("writeOnlyProperties");
    let create_only_list = list("createOnlyProperties");
    let mut unsupported_keywords = BTreeSet::new();
    unsupported(&document, 0, &mut unsupported_keywords);
    Ok(TypeSchema {
        unsupported_keywords: unsupported_keywords.into_iter().collect(),
        type_name: type_name.into(),
        nodes,
        root,
        read_only: PointerSet::new(&read_only_list),
        write_only: PointerSet::new(&write_only_list),
        create_only: PointerSet::new(&create_only_list),
        conditional_create_only: PointerSet::new(&list("conditionalCreateOnlyProperties")),
        read_only_list,
        write_only_list,
        create_only_list,
        primary_identifier: list("primaryIdentifier"),
        additional_identifiers: additional_identifiers(document.get("additionalIdentifiers")),
        handlers: handlers(document.get("handlers")),
        tagging: tagging(&document),
    })
}

struct Parser<'a> {
    document: &'a Map<String, Json>,
    nodes: Vec<Node>,
    /// The nodes of references, by their text and the rules that they add.
    references: HashMap<String, NodeId>,
    /// The numbers of definitions, by the text of their references.
    definitions: HashMap<String, u32>,
    /// Nodes that are to become copies. A definition that contains itself is not complete while it is read.
    copies: HashMap<NodeId, NodeCopy>,
}

/// A node with the rules of another one.
struct NodeCopy {
    original: NodeId,
    description: Option<Name>,
}

/// Keywords beside a reference that add no rule to it.
const DESCRIPTIVE: [&str; 4] = ["$comment", "description", "examples", "title"];

impl<'a> Parser<'a> {
    fn new(document: &'a Map<String, Json>) -> Self {
        Self {
            document,
            nodes: Vec::new(),
            references: HashMap::new(),
            definitions: HashMap::new(),
            copies: HashMap::new(),
        }
    }

    /// Completes the copies and returns all nodes.
    fn finish(mut self) -> Vec<Node> {
        for (id, copy) in &self.copies {
            let (mut original, mut description) = (copy.original, copy.description.clone());
            // As many steps as there are copies, because references may form a loop.
            for _ in 0..self.copies.len() {
                let Some(next) = self.copies.get(&original) else { break };
                original = next.original;
                description = description.or_else(|| next.description.clone());
            }
            let original = self.nodes[original.0 as usize].clone();
            self.nodes[id.0 as usize] = Node { description: description.or(original.description.clone()), ..original };
        }
        self.nodes
    }

    fn node(&mut self, schema: &Json, depth: usize) -> Result<NodeId, SchemaError> {
        match schema {
            Json::Object(schema) => self.object_node(schema, depth),
            _ => Ok(self.add(Node::default())),
        }
    }

    fn object_node(&mut self, schema: &Map<String, Json>, depth: usize) -> Result<NodeId, SchemaError> {
        if depth > DEEPEST {
            return Err(SchemaError::Document("its definitions are nested too deeply".to_owned()));
        }
        if let Some(Json::String(reference)) = schema.get("$ref") {
            return self.reference(reference, schema, depth);
        }
        let node = self.read(schema, depth)?;
        Ok(self.add(node))
    }

    fn add(&mut self, node: Node) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        id
    }

    /// Returns the node of a reference. Descriptions beside it become those of a copy; rules beside it are merged with those
    /// of the definition.
    fn reference(&mut self, reference: &str, schema: &Map<String, Json>, depth: usize) -> Result<NodeId, SchemaError> {
        let target = self.target(reference)?;
        // Some references repeat the type, wrongly; the definition says what the values are.
        let adds_rule =
            |key: &str| key != "$ref" && !DESCRIPTIVE.contains(&key) && (key != "type" || !target.contains_key("type"));
        if schema.keys().any(|key| adds_rule(key)) {
            let mut merged = target.clone();
            let rules = schema.iter().filter(|(key, _)| adds_rule(key) || *key == "description");
            merged.extend(rules.map(|(key, rule)| (key.clone(), rule.clone())));
            let key = Json::Object(schema.clone()).to_string();
            return self.definition(reference, key, &merged, depth);
        }
        let original = self.definition(reference, reference.to_owned(), target, depth)?;
        match text(schema, "description") {
            Some(description) => Ok(self.copy(original, Some(description.into()))),
            None => Ok(original),
        }
    }

    /// Returns the node of a definition, which `key` names together with the rules that a reference adds.
    fn definition(
        &mut self,
        reference: &str,
        key: String,
        schema: &Map<String, Json>,
        depth: usize,
    ) -> Result<NodeId, SchemaError> {
        if let Some(known) = self.references.get(&key) {
            return Ok(*known);
        }
        let number = u32::try_from(self.definitions.len()).unwrap_or(u32::MAX);
        let number = *self.definitions.entry(reference.to_owned()).or_insert(number);
        let definition = Definition { number, is_extended: key != reference };
        // The number is given before the definition is read, so that a definition can contain itself.
        let id = self.add(Node::default());
        self.references.insert(key, id);
        match schema.get("$ref") {
            Some(Json::String(next)) if next != reference => {
                let original = self.reference(&next.clone(), schema, depth + 1)?;
                self.copies.insert(id, NodeCopy { original, description: None });
            }
            _ => {
                let node = self.read(schema, depth + 1)?;
                self.nodes[id.0 as usize] = Node { definition: Some(definition), ..node };
            }
        }
        Ok(id)
    }

    fn copy(&mut self, original: NodeId, description: Option<Name>) -> NodeId {
        let id = self.add(Node::default());
        self.copies.insert(id, NodeCopy { original, description });
        id
    }

    fn target(&self, reference: &str) -> Result<&'a Map<String, Json>, SchemaError> {
        let dangling = || SchemaError::Document(format!("{reference} refers to nothing"));
        let path = reference.strip_prefix("#/").ok_or_else(dangling)?;
        let mut steps = path.split('/');
        let first = self.document.get(steps.next().unwrap_or_default()).ok_or_else(dangling)?;
        steps.try_fold(first, |value, step| value.get(step)).and_then(Json::as_object).ok_or_else(dangling)
    }

    fn read(&mut self, schema: &Map<String, Json>, depth: usize) -> Result<Node, SchemaError> {
        let type_order = types(schema.get("type"));
        let types = type_order.iter().fold(JsonTypes::default(), |all, one| all.union(*one));
        let mut properties = Vec::new();
        for (name, property) in members(schema, "properties") {
            properties.push((Name::from(name.as_str()), self.node(property, depth + 1)?));
        }
        properties.sort_by(|left, right| left.0.cmp(&right.0));
        let mut patterns = Vec::new();
        for (pattern, value) in members(schema, "patternProperties") {
            patterns.push((Arc::new(Pattern::new(pattern)), self.node(value, depth + 1)?));
        }
        patterns.sort_by(|left, right| left.0.text().cmp(right.0.text()));
        let items = match schema.get("items") {
            Some(items @ Json::Object(_)) => Some(self.node(items, depth + 1)?),
            _ => None,
        };
        let (enumeration, case_insensitive) = enumeration(schema);
        let (required_xor, required_or) = (names(schema.get("requiredXor")), names(schema.get("requiredOr")));
        Ok(Node {
            types,
            type_order,
            properties,
            required: names(schema.get("required")),
            closed: schema.get("additionalProperties") == Some(&Json::Bool(false)),
            patterns,
            items,
            order: element_order(schema),
            unique: schema.get("uniqueItems").and_then(Json::as_bool).unwrap_or(false),
            min_items: unsigned(schema, "minItems"),
            max_items: unsigned(schema, "maxItems"),
            min_length: unsigned(schema, "minLength"),
            max_length: unsigned(schema, "maxLength"),
            pattern: text(schema, "pattern").filter(|text| !text.is_empty()).map(|text| Arc::new(Pattern::new(text))),
            format: text(schema, "format").map(Name::from),
            minimum: schema.get("minimum").and_then(Json::as_f64),
            maximum: schema.get("maximum").and_then(Json::as_f64),
            enumeration,
            case_insensitive,
            default: schema.get("default").filter(|value| is_value(value)).cloned(),
            one_of: self.branches(schema, "oneOf", depth)?,
            any_of: self.branches(schema, "anyOf", depth)?,
            all_of: self.branches(schema, "allOf", depth)?,
            dependent_required: dependent_required(schema),
            required_xor,
            required_or,
            dependent_excluded: dependent_excluded(schema),
            numbers: NumberRules {
                above: number(schema, "exclusiveMinimum"),
                below: number(schema, "exclusiveMaximum"),
                multiple_of: number(schema, "multipleOf"),
            },
            sizes: (unsigned(schema, "minProperties"), unsigned(schema, "maxProperties")),
            conditional: self.conditional(schema, depth)?,
            negated: self.optional(schema, "not", depth)?,
            hints: Hints::named(texts(schema.get(HINTS))),
            description: text(schema, "description").map(Name::from),
            definition: None,
        })
    }

    fn conditional(&mut self, schema: &Map<String, Json>, depth: usize) -> Result<Option<Conditional>, SchemaError> {
        let Some(condition) = self.optional(schema, "if", depth)? else { return Ok(None) };
        let (then, otherwise) = (self.optional(schema, "then", depth)?, self.optional(schema, "else", depth)?);
        Ok(Some(Conditional { condition, then, otherwise }))
    }

    fn optional(&mut self, schema: &Map<String, Json>, key: &str, depth: usize) -> Result<Option<NodeId>, SchemaError> {
        schema.get(key).filter(|below| below.is_object()).map(|below| self.node(below, depth + 1)).transpose()
    }

    fn branches(&mut self, schema: &Map<String, Json>, key: &str, depth: usize) -> Result<Vec<NodeId>, SchemaError> {
        let Some(Json::Array(branches)) = schema.get(key) else { return Ok(Vec::new()) };
        branches.iter().map(|branch| self.node(branch, depth + 1)).collect()
    }
}

fn element_order(schema: &Map<String, Json>) -> ElementOrder {
    match schema.get("insertionOrder").and_then(Json::as_bool) {
        Some(true) => ElementOrder::Significant,
        Some(false) => ElementOrder::Insignificant,
        None => ElementOrder::Unstated,
    }
}

fn members<'a>(schema: &'a Map<String, Json>, key: &str) -> impl Iterator<Item = (&'a String, &'a Json)> + use<'a> {
    schema.get(key).and_then(Json::as_object).into_iter().flatten()
}

fn types(keyword: Option<&Json>) -> Vec<JsonTypes> {
    match keyword {
        Some(Json::String(name)) => JsonTypes::named(name).into_iter().collect(),
        Some(Json::Array(all)) => all.iter().filter_map(Json::as_str).filter_map(JsonTypes::named).collect(),
        _ => Vec::new(),
    }
}

fn names(list: Option<&Json>) -> Vec<Name> {
    list.and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).map(Name::from).collect()
}

fn texts(list: Option<&Json>) -> impl Iterator<Item = &str> {
    list.and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
}

fn number(schema: &Map<String, Json>, key: &str) -> Option<f64> {
    schema.get(key).and_then(Json::as_f64)
}

fn text<'a>(schema: &'a Map<String, Json>, key: &str) -> Option<&'a str> {
    schema.get(key).and_then(Json::as_str)
}

fn unsigned(schema: &Map<String, Json>, key: &str) -> Option<u64> {
    schema.get(key).and_then(Json::as_u64)
}

fn enumeration(schema: &Map<String, Json>) -> (Vec<Json>, bool) {
    if let Some(Json::Array(values)) = schema.get("enum") {
        return (values.clone(), false);
    }
    if let Some(Json::Array(values)) = schema.get("enumCaseInsensitive") {
        return (values.clone(), true);
    }
    (schema.get("const").cloned().into_iter().collect(), false)
}

/// A default that is null says nothing, and one that is a schema fragment is a mistake of its author.
fn is_value(default: &Json) -> bool {
    match default {
        Json::Null => false,
        Json::Object(members) => !members.contains_key("properties"),
        _ => true,
    }
}

fn dependent_required(schema: &Map<String, Json>) -> Vec<(Name, Vec<Name>)> {
    ["dependencies", "dependentRequired"]
        .iter()
        .flat_map(|key| members(schema, key))
        .filter(|(_, needs)| needs.is_array())
        .map(|(name, needs)| (Name::from(name.as_str()), names(Some(needs))))
        .collect()
}

fn dependent_excluded(schema: &Map<String, Json>) -> Vec<(Name, Vec<Name>)> {
    members(schema, "dependentExcluded")
        .filter(|(_, others)| others.is_array())
        .map(|(name, others)| (Name::from(name.as_str()), names(Some(others))))
        .collect()
}

/// Keywords that are read, or that say nothing about documents.
const KNOWN: [&str; 68] = [
    "$comment",
    "$id",
    "$ref",
    "$schema",
    "additionalIdentifiers",
    "additionalProperties",
    "allOf",
    "anyOf",
    "arrayType",
    "awsType",
    "cfnLint",
    "conditionalCreateOnlyProperties",
    "const",
    "createOnlyProperties",
    "default",
    "definitions",
    "dependencies",
    "dependentExcluded",
    "dependentRequired",
    "deprecatedProperties",
    "description",
    "documentationUrl",
    "else",
    "enum",
    "enumCaseInsensitive",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "handlers",
    "if",
    "insertionOrder",
    "items",
    "lifecycle",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "nonPublicDefinitions",
    "nonPublicProperties",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "primaryIdentifier",
    "properties",
    "readOnlyProperties",
    "relationshipRef",
    "replacementStrategy",
    "required",
    "requiredOr",
    "requiredXor",
    "resourceLink",
    "sourceUrl",
    "taggable",
    "tagging",
    "then",
    "title",
    "type",
    "typeName",
    "uniqueItems",
    "writeOnlyProperties",
    HINTS,
];

/// The keyword that lists the constraints of a node that are hints.
const HINTS: &str = "hints";

/// Collects the keywords of a schema that are not read.
fn unsupported(schema: &Map<String, Json>, depth: usize, found: &mut BTreeSet<Name>) {
    if depth > DEEPEST {
        return;
    }
    for (key, value) in schema {
        if !KNOWN.contains(&key.as_str()) {
            found.insert(key.as_str().into());
        }
        let mut below = |value: &Json| {
            if let Json::Object(inner) = value {
                unsupported(inner, depth + 1, found);
            }
        };
        match (key.as_str(), value) {
            ("properties" | "definitions" | "patternProperties", Json::Object(named)) => named.values().for_each(below),
            ("items" | "if" | "then" | "else" | "not", value) => below(value),
            ("oneOf" | "anyOf" | "allOf", Json::Array(branches)) => branches.iter().for_each(below),
            _ => {}
        }
    }
}

fn pointers(list: Option<&Json>) -> Vec<Pointer> {
    list.and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).filter_map(Pointer::parse).collect()
}

fn additional_identifiers(list: Option<&Json>) -> Vec<Vec<Pointer>> {
    list.and_then(Json::as_array)
        .into_iter()
        .flatten()
        .map(|identifier| match identifier {
            Json::String(text) => Pointer::parse(text).into_iter().collect(),
            other => pointers(Some(other)),
        })
        .filter(|identifier: &Vec<Pointer>| !identifier.is_empty())
        .collect()
}

fn handlers(document: Option<&Json>) -> Handlers {
    let handler = |name: &str| document.and_then(|handlers| handlers.get(name)).map(handler);
    Handlers {
        create: handler("create"),
        read: handler("read"),
        update: handler("update"),
        delete: handler("delete"),
        list: handler("list"),
    }
}

fn handler(document: &Json) -> Handler {
    let timeout_minutes = document.get("timeoutInMinutes").and_then(Json::as_u64);
    Handler { timeout_minutes, required_inputs: parse_list_inputs(document) }
}

/// The properties that the requests of a list handler must give.
pub fn parse_list_inputs(document: &Json) -> Vec<Name> {
    let schema = document.get("handlerSchema");
    let mut required_inputs = names(schema.and_then(|schema| schema.get("required")));
    for choice in ["oneOf", "anyOf", "allOf"] {
        let first = schema.and_then(|schema| schema.get(choice)).and_then(|branches| branches.get(0));
        for name in names(first.and_then(|branch| branch.get("required"))) {
            if !required_inputs.contains(&name) {
                required_inputs.push(name);
            }
        }
    }
    required_inputs
}

fn tagging(document: &Map<String, Json>) -> Tagging {
    let block = document.get("tagging");
    let flag = |name: &str| block.and_then(|block| block.get(name)).and_then(Json::as_bool).unwrap_or(true);
    let declared = block.is_some() || document.get("taggable").and_then(Json::as_bool).unwrap_or(false);
    let property = block
        .and_then(|block| block.get("tagProperty"))
        .and_then(Json::as_str)
        .or(declared.then_some("/properties/Tags"))
        .and_then(Pointer::parse);
    Tagging {
        taggable: declared && flag("taggable"),
        on_create: flag("tagOnCreate"),
        updatable: flag("tagUpdatable"),
        property,
    }
}
