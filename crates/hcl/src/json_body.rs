//! Reading bodies of the JSON syntax.
//!
//! Arguments and blocks are both properties of an object; only the schema tells which is which. Where an object is
//! expected, an array of objects represents all their properties in order, which allows a name to occur twice.

use std::collections::{HashMap, HashSet};

use groma_diagnostics::{Diagnostic, Diagnostics, Span, did_you_mean};

use crate::ast::{Expression, ExpressionKind, Ident, Name, ObjectItem};
use crate::body::{Attribute, Block, Body, Hidden, JsonBody, JsonText, Label, first_character};
use crate::content::Content;
use crate::overriding::COMMENT;
use crate::schema::{BlockSpec, BodySchema};

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
    // Wrong kinds of value have been reported already.
    let properties = properties(&body.value, Purpose::Body, &mut Diagnostics::new());
    let attributes: HashSet<&str> = schema.attributes.iter().map(|spec| &*spec.name).collect();
    let blocks: HashSet<&str> = schema.blocks.iter().map(|spec| &*spec.kind).collect();
    for property in properties {
        let name = &*property.name.name;
        let expected = name == COMMENT || attributes.contains(name) || blocks.contains(name);
        if !expected && !hidden.has_attribute(name) && !hidden.has_block(name) {
            diagnostics.push(extraneous(&property, schema, &content));
            content.leaves_out = true;
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
                let detail = format!("The argument \"{name}\" is set twice in this body; remove one of the two.");
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
    content.leaves_out = !diagnostics.is_empty();
    if body.text == JsonText::Whole {
        content.report_missing(schema, &mut diagnostics);
    }
    (content, diagnostics)
}

pub(crate) fn attributes(body: &JsonBody, hidden: &Hidden) -> (Vec<Attribute>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let ExpressionKind::Object(items) = &body.value.kind else {
        let detail = "A JSON object with the arguments of this block is needed here.";
        diagnostics.push(wrong_type(&body.value, detail.to_owned()));
        return (Vec::new(), diagnostics);
    };
    let mut content = Content::new(body.missing_item());
    for property in items.iter().filter_map(property) {
        let name = &*property.name.name;
        // What has been read as a block is no argument any more.
        if name == COMMENT || hidden.has_attribute(name) || hidden.has_block(name) {
            continue;
        }
        if content.insert(property.attribute()).is_some() {
            let detail = format!("The argument \"{name}\" is set twice in this object; remove one of the two.");
            diagnostics.push(Diagnostic::error("Duplicate attribute definition", detail).at(property.name.span));
        }
    }
    (content.attributes, diagnostics)
}

/// Takes labels and repetitions of one kind of block apart.
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
                "An object with at least one property is needed, whose name is the {label} of the {kind} block."
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
            ExpressionKind::Null | ExpressionKind::Invalid => {}
            ExpressionKind::Object(_) => blocks.push(self.block(value, value)),
            ExpressionKind::Tuple(elements) => blocks.extend(elements.iter().map(|element| self.block(element, value))),
            _ => {
                let detail =
                    format!("A JSON object or array with the content of \"{}\" blocks is needed here.", self.kind.name);
                self.diagnostics.push(wrong_type(value, detail));
            }
        }
    }

    fn block(&self, body: &Expression, around: &Expression) -> Block {
        // Earlier names, and an array, also precede other blocks.
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

/// The purpose of decoding an object's properties.
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
                    diagnostics
                        .push(wrong_type(element, format!("A JSON object is needed here, {}.", purpose.describe())));
                }
            }
            all
        }
        _ => {
            let detail = format!("A JSON object or an array of JSON objects is needed here, {}.", purpose.describe());
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

/// The bracket that opens a value, or all of a value without brackets.
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
    let hint = did_you_mean(name, free.chain(kinds).chain(schema.beside.iter().copied()));
    let detail = format!("No argument or block type is named \"{name}\".{hint}");
    Diagnostic::error("Extraneous JSON object property", detail)
        .at(property.name.span)
        .within(property.span())
        .covering(property.span())
}
