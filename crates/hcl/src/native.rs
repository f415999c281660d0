//! Decoding of bodies in native syntax.

use std::collections::HashMap;

use groma_diagnostics::{Diagnostic, DiagnosticKind, Diagnostics, did_you_mean};

use crate::body::{Attribute, Block, Hidden, NativeBody, first_character};
use crate::content::Content;
use crate::schema::{BlockSpec, BodySchema};

/// A lookup of schema entries by name: linear, or a table where that is faster.
struct Specs<'a> {
    schema: &'a BodySchema,
    attributes: Option<HashMap<&'a str, ()>>,
    blocks: Option<HashMap<&'a str, &'a BlockSpec>>,
}

/// The number of comparisons (schema entries times items) below which building a table does not pay off.
const FEW: usize = 256;

impl<'a> Specs<'a> {
    fn new(schema: &'a BodySchema, body: &NativeBody) -> Self {
        let attributes = (schema.attributes.len() * body.attributes().len() > FEW)
            .then(|| schema.attributes.iter().map(|spec| (&*spec.name, ())).collect());
        let blocks = (schema.blocks.len() * body.blocks.len() > FEW)
            .then(|| schema.blocks.iter().map(|spec| (&*spec.kind, spec)).collect());
        Self { schema, attributes, blocks }
    }

    fn has_attribute(&self, name: &str) -> bool {
        match &self.attributes {
            Some(table) => table.contains_key(name),
            None => self.schema.attributes.iter().any(|spec| &*spec.name == name),
        }
    }

    fn block(&self, kind: &str) -> Option<&'a BlockSpec> {
        match &self.blocks {
            Some(table) => table.get(kind).copied(),
            None => self.schema.blocks.iter().find(|spec| &*spec.kind == kind),
        }
    }
}

pub(crate) fn content(body: &NativeBody, hidden: &Hidden, schema: &BodySchema) -> (Content, Diagnostics) {
    let specs = Specs::new(schema, body);
    let (mut content, mut diagnostics) = read(body, hidden, &specs);
    // Later items may belong to another body; see [`CertainItems`].
    for attribute in body.attributes().iter().take(body.certain.attributes) {
        let name = &*attribute.name.name;
        if !hidden.has_attribute(name) && !specs.has_attribute(name) {
            diagnostics.push(unsupported_argument(attribute, schema, &content));
            content.omits_invalid = true;
        }
    }
    for block in body.blocks.iter().take(body.certain.blocks) {
        let kind = &*block.kind.name;
        if !hidden.has_block(kind) && specs.block(kind).is_none() {
            diagnostics.push(unsupported_block(block, schema));
            content.omits_invalid = true;
        }
    }
    (content, diagnostics)
}

pub(crate) fn partial_content(body: &NativeBody, hidden: &Hidden, schema: &BodySchema) -> (Content, Diagnostics) {
    read(body, hidden, &Specs::new(schema, body))
}

pub(crate) fn attributes(body: &NativeBody, hidden: &Hidden) -> (Vec<Attribute>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut blocks = body.blocks.iter().take(body.certain.blocks);
    if let Some(block) = blocks.find(|block| !hidden.has_block(&block.kind.name)) {
        let summary = format!("Unexpected \"{}\" block", block.kind.name);
        let problem = Diagnostic::error(summary, "Blocks are not allowed here, only arguments.");
        diagnostics.push(problem.of_kind(DiagnosticKind::UnexpectedBlock).at(block.kind.span));
    }
    let visible = body.attributes().iter().filter(|attribute| !hidden.has_attribute(&attribute.name.name));
    (visible.cloned().collect(), diagnostics)
}

fn read(body: &NativeBody, hidden: &Hidden, specs: &Specs<'_>) -> (Content, Diagnostics) {
    let mut content = Content::new(body.missing());
    let mut diagnostics = Diagnostics::new();
    for attribute in body.attributes() {
        let name = &*attribute.name.name;
        if !hidden.has_attribute(name) && specs.has_attribute(name) {
            // Of two arguments with one name, possible in a body that was not parsed, the first one wins.
            content.insert(attribute.clone());
        }
    }
    content.report_missing(specs.schema, &mut diagnostics);
    for (index, block) in body.blocks.iter().enumerate() {
        if hidden.has_block(&block.kind.name) {
            continue;
        }
        let Some(spec) = specs.block(&block.kind.name) else { continue };
        // After a brace mismatch, a reserved block is more likely a nested block of another one than a real use.
        if spec.is_reserved && index >= body.certain.blocks {
            content.omits_invalid = true;
            continue;
        }
        match check_labels(block, spec) {
            Ok(()) => content.blocks.push(block.clone()),
            Err(diagnostic) => {
                diagnostics.push(diagnostic);
                content.omits_invalid = true;
            }
        }
    }
    (content, diagnostics)
}

fn check_labels(block: &Block, spec: &BlockSpec) -> Result<(), Diagnostic> {
    let kind = &block.kind.name;
    let expected = spec.labels.len();
    let brace = first_character(block.body.span());
    let header = block.header.to(brace);
    if let Some(extra) = block.labels.get(expected) {
        let detail = match expected {
            0 => format!("A {kind} block takes no labels."),
            _ => format!("A {kind} block takes only {} ({}).", labels(expected), spec.labels.join(", ")),
        };
        return Err(Diagnostic::error(format!("Extraneous label for {kind}"), detail).at(extra.span).within(header));
    }
    if let Some(missing) = spec.labels.get(block.labels.len()) {
        let detail = format!("Every {kind} block must have {} ({}).", labels(expected), spec.labels.join(", "));
        // A header without a brace has an empty body span at its start.
        let span = if brace.start() == header.start() { block.kind.span } else { brace };
        return Err(Diagnostic::error(format!("Missing {missing} for {kind}"), detail).at(span).within(header));
    }
    Ok(())
}

fn labels(number: usize) -> String {
    if number == 1 { "1 label".to_owned() } else { format!("{number} labels") }
}

fn unsupported_argument(attribute: &Attribute, schema: &BodySchema, content: &Content) -> Diagnostic {
    let name = &attribute.name.name;
    let free = schema.attributes.iter().map(|spec| &*spec.name).filter(|spec| content.get(spec).is_none());
    let mut hint = did_you_mean(name, free.chain(schema.related_names.iter().copied()));
    if hint.is_empty() && schema.blocks.iter().any(|spec| spec.kind == *name) {
        hint = format!(" Did you mean to define a block of type \"{name}\"? If so, remove the equals sign.");
    }
    let detail = format!("An argument named \"{name}\" is not expected here.{hint}");
    Diagnostic::error("Unsupported argument", detail).at(attribute.name.span).suppressing(attribute.span())
}

fn unsupported_block(block: &Block, schema: &BodySchema) -> Diagnostic {
    let kind = &block.kind.name;
    let known = schema.blocks.iter().map(|spec| &*spec.kind);
    let mut hint = did_you_mean(kind, known.chain(schema.related_names.iter().copied()));
    if hint.is_empty() && schema.attributes.iter().any(|spec| spec.name == *kind) {
        hint = format!(" Did you mean to set the argument \"{kind}\"? If so, add an equals sign before its value.");
    }
    let detail = format!("Blocks of type \"{kind}\" are not expected here.{hint}");
    Diagnostic::error("Unsupported block type", detail).at(block.kind.span).suppressing(block.span)
}
