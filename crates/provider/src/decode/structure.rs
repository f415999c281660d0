//! The structure of a body against its schema: checked once a block, whatever the number of instances.

use std::collections::HashMap;
use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, Span, did_you_mean};
use groma_hcl::{Body, BodySchema, Content, Expression, Traversal};
use groma_lang::{Binding, for_each_traversal, parse_reference};

use super::node::{Blocks, Entry, Node, SlotNode};
use crate::Name;
use crate::schema::{Block, Item, NestedBlock, Nesting, Use};

/// What is gathered while the structure is read.
pub(super) struct Reader {
    pub(super) diagnostics: Diagnostics,
    /// The dynamic blocks around the current place, the outermost first.
    pub(super) around: Vec<Around>,
    /// What the collections and labels inside of the outermost of them refer to.
    pub(super) collections: Vec<Traversal>,
}

/// A dynamic block whose content is read.
pub(super) struct Around {
    pub(super) iterator: Name,
    /// What the arguments in the content refer to.
    pub(super) named: Vec<Traversal>,
}

impl Reader {
    pub(super) fn new() -> Self {
        Self { diagnostics: Diagnostics::new(), around: Vec::new(), collections: Vec::new() }
    }

    /// Reads `body` as a block of the schema `block`, beside which the language has `words` of its own.
    pub(super) fn root(&mut self, body: &Body, block: &Arc<Block>, words: &'static [&'static str]) -> Node {
        self.read(body, block, &body_schema(block, body).related_names(words))
    }

    /// Reads `body` as a block of the schema `block`.
    pub(super) fn node(&mut self, body: &Body, block: &Arc<Block>) -> Node {
        self.read(body, block, &body_schema(block, body))
    }

    fn read(&mut self, body: &Body, block: &Arc<Block>, schema: &BodySchema) -> Node {
        let (content, problems) = body.content(schema);
        self.diagnostics.append(problems);
        let mut entries = self.entries(&content, block);
        let mut filled = Vec::new();
        for (position, slot) in block.slots().iter().enumerate() {
            let entries = entries.remove(&position).unwrap_or_default();
            let found = match (content.get(&slot.name), &slot.item) {
                (Some(argument), Item::Attribute(_)) => {
                    self.check_references(&argument.expression);
                    Some(SlotNode::Argument(argument.expression.clone()))
                }
                (_, Item::Block(nested)) if !entries.is_empty() || nested.min() > 0 => {
                    Some(SlotNode::Blocks(Box::new(Blocks { nested: nested.clone(), entries })))
                }
                (None, Item::Attribute(attribute)) if !entries.is_empty() => {
                    attribute.as_blocks().map(|nested| SlotNode::Blocks(Box::new(Blocks { nested, entries })))
                }
                _ => None,
            };
            filled.extend(found.map(|found| (position, found)));
        }
        let node = Node { block: block.clone(), filled: filled.into(), missing: content.missing_item };
        self.check_counts(&node);
        node
    }

    /// The blocks of each slot that has some, by its position.
    fn entries(&mut self, content: &Content, block: &Arc<Block>) -> HashMap<usize, Vec<Entry>> {
        let mut entries: HashMap<usize, Vec<Entry>> = HashMap::new();
        for found in &content.blocks {
            let is_dynamic = &*found.kind.name == DYNAMIC && has_dynamic_blocks(block, found.body.is_json());
            let kind = match found.labels.first() {
                Some(label) if is_dynamic => &label.value,
                _ => &found.kind.name,
            };
            let nested = match block.item(kind) {
                Some(Item::Block(nested)) => Some(nested.clone()),
                Some(Item::Attribute(attribute)) => attribute.as_blocks(),
                None => None,
            };
            let (Some(nested), Some(position)) = (nested, block.shape().position(kind)) else {
                let span = found.labels.first().map_or(found.header, |label| label.span);
                let meant = did_you_mean(kind, block.blocks().map(|(name, _)| &**name));
                let detail = format!("No block of type \"{kind}\" can stand here.{meant}");
                self.diagnostics.push(Diagnostic::error("Unsupported block type", detail).at(span));
                continue;
            };
            let entry = if is_dynamic {
                self.dynamic(found, kind, &nested).map(|dynamic| Entry::Dynamic(Box::new(dynamic)))
            } else {
                let node = self.node(&found.body, nested.block());
                Some(Entry::Static { label: found.labels.first().cloned(), header: found.header, node })
            };
            if let Some(entry) = entry {
                entries.entry(position).or_default().push(entry);
            }
        }
        entries
    }

    /// Reports references in an argument that cannot be meant. The content of dynamic blocks is looked at when there is an element.
    fn check_references(&mut self, expression: &Expression) {
        if self.around.is_empty() {
            return self.check_form(expression);
        }
        let named = self.free(expression);
        self.around.last_mut().into_iter().for_each(|around| around.named.extend_from_slice(&named));
    }

    /// The same in an expression that says which blocks a dynamic block makes. Inside of another one it is looked at even where that makes none.
    pub(super) fn check_collection(&mut self, expression: &Expression) {
        if self.around.is_empty() {
            self.check_form(expression);
        } else {
            let named = self.free(expression);
            self.collections.extend(named);
        }
    }

    fn check_form(&mut self, expression: &Expression) {
        let diagnostics = &mut self.diagnostics;
        for_each_traversal(expression, &mut |traversal| {
            // What was found to mean something has the form of a reference.
            if Binding::of(traversal).is_none() {
                diagnostics.append(parse_reference(traversal).err());
            }
        });
    }

    /// What `expression` refers to beside the elements of the dynamic blocks around it.
    fn free(&self, expression: &Expression) -> Vec<Traversal> {
        let mut free = Vec::new();
        for_each_traversal(expression, &mut |traversal| {
            if self.around.iter().all(|around| around.iterator != traversal.root.name) {
                free.push(traversal.clone());
            }
        });
        free
    }

    /// Checks the numbers of blocks that are all written out; with dynamic blocks only an evaluation can tell.
    fn check_counts(&mut self, node: &Node) {
        for (position, found) in &node.filled {
            let (SlotNode::Blocks(blocks), Some(slot)) = (found, node.block.slots().get(*position)) else { continue };
            let headers: Option<Vec<Span>> = blocks.entries.iter().map(Entry::static_header).collect();
            if let Some(headers) = headers {
                self.diagnostics.append(count_problem(&slot.name, &blocks.nested, &headers, node.missing));
            }
        }
    }
}

/// The kind of the blocks that make blocks.
const DYNAMIC: &str = "dynamic";

/// Whether `dynamic` blocks can stand in a body of the schema `block`. An argument of that name leaves them alone where the syntax tells the two apart.
fn has_dynamic_blocks(block: &Block, is_json: bool) -> bool {
    match block.item(DYNAMIC) {
        None => true,
        Some(Item::Attribute(attribute)) => !is_json && !attribute.may_be_blocks(),
        Some(Item::Block(_)) => false,
    }
}

/// What is wrong with the number of blocks that stand at `headers`.
pub(super) fn count_problem(kind: &str, nested: &NestedBlock, headers: &[Span], missing: Span) -> Option<Diagnostic> {
    let single = matches!(nested.nesting(), Nesting::Single | Nesting::Group);
    let count = headers.len() as u64;
    if single {
        return match headers {
            [] if nested.min() > 0 => Some(
                Diagnostic::error(
                    format!("Missing {kind} block"),
                    format!("Add a block of type \"{kind}\" here; it is required."),
                )
                .at(missing),
            ),
            [_, second, ..] => Some(
                Diagnostic::error(
                    format!("Duplicate {kind} block"),
                    format!("There can be only one block of type \"{kind}\" here. Remove all but one of them."),
                )
                .at(*second),
            ),
            _ => None,
        };
    }
    if count < nested.min() {
        let detail = format!("At least {} \"{kind}\" blocks are required.", nested.min());
        return Some(Diagnostic::error(format!("Insufficient {kind} blocks"), detail).at(missing));
    }
    let max = nested.max().filter(|max| count > *max)?;
    let detail = format!("No more than {max} \"{kind}\" blocks are allowed.");
    let first_extra = usize::try_from(max).ok().and_then(|max| headers.get(max)).copied().unwrap_or(missing);
    Some(Diagnostic::error(format!("Too many {kind} blocks"), detail).at(first_extra))
}

/// What may stand in a body of the schema `block`.
fn body_schema(block: &Block, body: &Body) -> BodySchema {
    let mut schema = BodySchema::new();
    for slot in block.slots() {
        match &slot.item {
            Item::Attribute(attribute) => {
                let name = slot.name.clone();
                schema = match attribute.usage() {
                    Use::Required => schema.required(name),
                    _ => schema.optional(name),
                };
                // In the JSON syntax an argument and a list of blocks look the same: it is read as the argument.
                if !body.is_json() && attribute.usage() != Use::Required && attribute.may_be_blocks() {
                    schema = schema.block(slot.name.clone(), &[]);
                }
            }
            Item::Block(nested) if nested.nesting() == Nesting::Map => {
                schema = schema.block(slot.name.clone(), &["key"]);
            }
            Item::Block(_) => schema = schema.block(slot.name.clone(), &[]),
        }
    }
    if has_dynamic_blocks(block, body.is_json()) {
        schema = schema.block(DYNAMIC, &["type"]);
    }
    schema
}
