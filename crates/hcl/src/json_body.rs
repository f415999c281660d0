//! Decoding of bodies in JSON syntax.
//!
//! Arguments and blocks are both object properties; only the schema distinguishes them. An array of objects is
//! equivalent to one object with all their properties in order, which allows duplicate names.

use std::collections::{HashMap, HashSet};

use groma_diagnostics::{Diagnostic, Diagnostics, Span, did_you_mean};

use crate::ast::{Expression, ExpressionKind, Ident, Name, ObjectItem};
use crate::body::{Attribute, Block, Body, Hidden, JsonBody, JsonText, Label, first_character};
use crate::content::Content;
use crate::schema::{BlockSpec, BodySchema};
use crate::unconditional::COMMENT;

/// A property of an object that represents a body.
struct Property<'a> {
    name: Ident,
    value: &'a Expression,
}

impl Property<'_> {
    fn attribute(&self) -> Attribute {
        Attribute { name: self.name.clone(), expression: self.value.clone() }
    }

    fn span(&self) -> Span {
        self.name.span.to(self.value.span)
    }
}

pub(crate) fn content(body: &JsonBody, hidden: &Hidden, schema: &BodySchema) -> (Content, Diagnostics) {
    let (mut content, mut diagnostics) = partial_content(body, hidden, schema);
    // Values of the wrong type were reported by the first pass.
    let properties = properties(&body.value, Purpose::Body, &mut Diagnostics::new());
    let attributes: HashSet<&str> = schema.attributes.iter().map(|spec| &*spec.name).collect();
    let blocks: HashSet<&str> = schema.blocks.iter().map(|spec| &*spec.kind).collect();
    for property in properties {
        let name = &*property.name.name;
        let expected = name == COMMENT || attributes.contains(name) || blocks.contains(name);
        if !expected && !hidden.has_attribute(name) && !hidden.has_block(name) {
            diagnostics.push(extraneous(&property, schema, &content));
            content.omits_invalid = true;
        }
    }
    (content, diagnostics)
}

pub(crate) fn partial_content(body: &JsonBody, hidden: &Hidden, schema: &BodySchema) -> (Content, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut content = Content::new(body.missing_item());
    let attributes: HashSet<&str> = schema.attributes.iter().map(|spec| &*spec.name).collect();
    let blocks: HashMap<&str, &BlockSpec> = schema.blocks.iter().map(|spec| (&*spec.kind, spec)).collect();
    for property in properties(&body.value, Purpose::Body, &mut diagnostics) {
        let name = &*property.name.name;
        if hidden.has_attribute(name) || hidden.has_block(name) {
            continue;
        }
        if attributes.contains(name) {
            if content.insert(property.attribute()).is_some() {
                let detail = format!("The argument \"{name}\" is set twice in this body. Remove one of the two.");
                let diagnostic = Diagnostic::error("Duplicate argument", detail);
                diagnostics.push(diagnostic.at(property.name.span).within(property.span()));
            }
        } else if let Some(spec) = blocks.get(name) {
            let mut unpacking = Unpacking {
                kind: &property.name,
                spec,
                text: body.text,
                labels: Vec::new(),
                diagnostics: &mut diagnostics,
            };
            unpacking.unpack(property.value, &mut content.blocks);
        }
    }
    content.omits_invalid = !diagnostics.is_empty();
    // Syntax errors may have removed the arguments that seem to be missing.
    if body.text == JsonText::Whole {
        content.report_missing(schema, &mut diagnostics);
    }
    (content, diagnostics)
}

pub(crate) fn attributes(body: &JsonBody, hidden: &Hidden) -> (Vec<Attribute>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let ExpressionKind::Object(items) = &body.value.kind else {
        let detail = "Expected a JSON object with the arguments of this block.";
        diagnostics.push(wrong_type(&body.value, detail.to_owned()));
        return (Vec::new(), diagnostics);
    };
    let mut content = Content::new(body.missing_item());
    for property in items.iter().filter_map(property) {
        let name = &*property.name.name;
        // A property that was already decoded as a block is not an argument.
        if name == COMMENT || hidden.has_attribute(name) || hidden.has_block(name) {
            continue;
        }
        if content.insert(property.attribute()).is_some() {
            let detail = format!("The argument \"{name}\" is set twice in this object. Remove one of the two.");
            diagnostics.push(Diagnostic::error("Duplicate attribute definition", detail).at(property.name.span));
        }
    }
    (content.attributes, diagnostics)
}

/// A recursive decoder of the nested objects that represent labels and repetitions of one block type.
struct Unpacking<'a> {
    kind: &'a Ident,
    spec: &'a BlockSpec,
    text: JsonText,
    labels: Vec<Label>,
    diagnostics: &'a mut Diagnostics,
}

impl Unpacking<'_> {
    fn unpack(&mut self, value: &Expression, blocks: &mut Vec<Block>) {
        let Some(label) = self.spec.labels.get(self.labels.len()) else {
            self.unpack_bodies(value, blocks);
            return;
        };
        let problems = self.diagnostics.len();
        let properties = properties(value, Purpose::Label(label), self.diagnostics);
        if properties.is_empty() && self.text == JsonText::Whole && self.diagnostics.len() == problems {
            let kind = &self.kind.name;
            let detail = format!(
                "Expected an object with at least one property, whose name is the {label} of the {kind} block."
            );
            self.diagnostics.push(Diagnostic::error("Missing block label", detail).at(beginning(value)));
        }
        for property in properties {
            self.labels.push(Label { value: property.name.name, span: property.name.span });
            self.unpack(property.value, blocks);
            self.labels.pop();
        }
    }

    fn unpack_bodies(&mut self, value: &Expression, blocks: &mut Vec<Block>) {
        match &value.kind {
            // null is the same as no block, and an invalid value has been reported.
            ExpressionKind::Null | ExpressionKind::Invalid => {}
            ExpressionKind::Object(_) => blocks.push(self.block(value, value)),
            ExpressionKind::Tuple(elements) => blocks.extend(elements.iter().map(|element| self.block(element, value))),
            _ => {
                let detail =
                    format!("Expected a JSON object or array with the content of \"{}\" blocks.", self.kind.name);
                self.diagnostics.push(wrong_type(value, detail));
            }
        }
    }

    fn block(&self, body: &Expression, around: &Expression) -> Block {
        // Outer label properties and an array can contain several blocks, so they are not part of this block's span.
        let start = match &around.kind {
            ExpressionKind::Tuple(_) => body.span,
            _ => self.labels.last().map_or(self.kind.span, |label| label.span),
        };
        Block {
            kind: self.kind.clone(),
            labels: self.labels.iter().cloned().collect(),
            body: Body::from_json(JsonBody::new(body.clone(), self.text)),
            header: beginning(around),
            span: start.to(body.span),
        }
    }
}

/// The role of an object's properties.
#[derive(Clone, Copy)]
enum Purpose<'a> {
    Body,
    Label(&'a str),
}

impl Purpose<'_> {
    fn describe(self) -> String {
        match self {
            Self::Body => "for arguments and nested blocks".to_owned(),
            Self::Label(label) => format!("whose property names are the {label} labels of this block"),
        }
    }
}

fn properties<'a>(value: &'a Expression, purpose: Purpose<'_>, diagnostics: &mut Diagnostics) -> Vec<Property<'a>> {
    match &value.kind {
        ExpressionKind::Null | ExpressionKind::Invalid => Vec::new(),
        ExpressionKind::Object(items) => items.iter().filter_map(property).collect(),
        ExpressionKind::Tuple(elements) => {
            let mut all = Vec::new();
            for element in elements.iter() {
                if let ExpressionKind::Object(items) = &element.kind {
                    all.extend(items.iter().filter_map(property));
                } else {
                    diagnostics.push(wrong_type(element, format!("Expected a JSON object {}.", purpose.describe())));
                }
            }
            all
        }
        _ => {
            let detail = format!("Expected a JSON object or an array of JSON objects {}.", purpose.describe());
            diagnostics.push(wrong_type(value, detail));
            Vec::new()
        }
    }
}

fn property(item: &ObjectItem) -> Option<Property<'_>> {
    let ExpressionKind::JsonString(key) = &item.key.kind else { return None };
    Some(Property { name: Ident::new(key.text.clone(), item.key.span), value: &item.value })
}

fn wrong_type(value: &Expression, detail: String) -> Diagnostic {
    Diagnostic::error("Incorrect JSON value type", detail).at(beginning(value))
}

/// The opening bracket of a value, or the whole of a primitive value.
fn beginning(value: &Expression) -> Span {
    match &value.kind {
        ExpressionKind::Object(_) | ExpressionKind::Tuple(_) => first_character(value.span),
        _ => value.span,
    }
}

fn extraneous(property: &Property<'_>, schema: &BodySchema, content: &Content) -> Diagnostic {
    let name: &Name = &property.name.name;
    let free = schema.attributes.iter().map(|spec| &*spec.name).filter(|spec| content.get(spec).is_none());
    let kinds = schema.blocks.iter().map(|spec| &*spec.kind);
    let hint = did_you_mean(name, free.chain(kinds).chain(schema.related_names.iter().copied()));
    let detail = format!("No argument or block type is named \"{name}\".{hint}");
    Diagnostic::error("Extraneous JSON object property", detail)
        .at(property.name.span)
        .within(property.span())
        .suppressing(property.span())
}
