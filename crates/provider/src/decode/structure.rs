//! Structural checks of a body against its schema, once per block regardless of the number of instances.

use std::collections::HashMap;
use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, Span, did_you_mean};
use groma_hcl::{Body, BodySchema, Content, Expression, Traversal};
use groma_lang::{Binding, for_each_traversal, parse_reference};

use super::node::{Blocks, Entry, Node, SlotNode};
use crate::Name;
use crate::schema::{Block, Item, NestedBlock, Nesting, Use};

/// The state of reading one body.
pub(super) struct Reader {
    pub(super) diagnostics: Diagnostics,
    /// The enclosing dynamic blocks, outermost first.
    pub(super) enclosing: Vec<EnclosingDynamic>,
    /// References in the collections and labels of dynamic blocks nested in the outermost one.
    pub(super) collections: Vec<Traversal>,
}

/// A dynamic block whose content is being read.
pub(super) struct EnclosingDynamic {
    pub(super) iterator: Name,
    /// References in arguments of the content.
    pub(super) references: Vec<Traversal>,
}

impl Reader {
    pub(super) fn new() -> Self {
        Self { diagnostics: Diagnostics::new(), enclosing: Vec::new(), collections: Vec::new() }
    }

    /// Reads `body` as a block of the schema `block` that may also contain `meta_arguments`.
    pub(super) fn root(&mut self, body: &Body, block: &Arc<Block>, meta_arguments: &'static [&'static str]) -> Node {
        self.read(body, block, &body_schema(block, body).beside(meta_arguments))
    }

    /// Reads `body` as a block of the schema `block`, without meta-arguments.
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
                // Required blocks get a slot even without entries, so that their absence is counted and reported.
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

    /// Assigns the blocks of the body to schema slots, by slot position.
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
                let detail = format!("Blocks of type \"{kind}\" are not expected here.{meant}");
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

    /// Checks the references in an argument. Those in a dynamic block are only recorded, and checked once it has an
    /// element.
    fn check_references(&mut self, expression: &Expression) {
        if self.enclosing.is_empty() {
            return self.check_reference_syntax(expression);
        }
        let references = self.outer_references(expression);
        self.enclosing.last_mut().into_iter().for_each(|enclosing| enclosing.references.extend_from_slice(&references));
    }

    /// Checks the references in a `for_each` or `labels` argument. In a nested dynamic block they are recorded for the
    /// outermost one.
    pub(super) fn check_collection(&mut self, expression: &Expression) {
        if self.enclosing.is_empty() {
            self.check_reference_syntax(expression);
        } else {
            let references = self.outer_references(expression);
            self.collections.extend(references);
        }
    }

    fn check_reference_syntax(&mut self, expression: &Expression) {
        let diagnostics = &mut self.diagnostics;
        for_each_traversal(expression, &mut |traversal| {
            // A traversal that was bound to a target at load time is a valid reference.
            if Binding::of(traversal).is_none() {
                diagnostics.append(parse_reference(traversal).err());
            }
        });
    }

    /// Returns the references in `expression` other than the iterators of enclosing dynamic blocks.
    fn outer_references(&self, expression: &Expression) -> Vec<Traversal> {
        let mut references = Vec::new();
        for_each_traversal(expression, &mut |traversal| {
            if self.enclosing.iter().all(|enclosing| enclosing.iterator != traversal.root.name) {
                references.push(traversal.clone());
            }
        });
        references
    }

    /// Checks the number of blocks in slots with static blocks only; dynamic blocks are counted after their expansion.
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

/// The type of the blocks that generate blocks.
const DYNAMIC: &str = "dynamic";

/// Whether `dynamic` blocks are available in a body of the schema `block`. A block type of that name disables them; an
/// argument of that name does so only where the syntax cannot distinguish the two.
fn has_dynamic_blocks(block: &Block, is_json: bool) -> bool {
    match block.item(DYNAMIC) {
        None => true,
        Some(Item::Attribute(attribute)) => !is_json && !attribute.may_be_blocks(),
        Some(Item::Block(_)) => false,
    }
}

/// Returns the error if the number of blocks at `headers` is outside the limits of the schema.
pub(super) fn count_problem(kind: &str, nested: &NestedBlock, headers: &[Span], missing: Span) -> Option<Diagnostic> {
    let single = matches!(nested.nesting(), Nesting::Single | Nesting::Group);
    let count = headers.len() as u64;
    if single {
        return match headers {
            [] if nested.min() > 0 => Some(
                Diagnostic::error(
                    format!("Missing {kind} block"),
                    format!("A block of type \"{kind}\" is required here."),
                )
                .at(missing),
            ),
            [_, second, ..] => Some(
                Diagnostic::error(
                    format!("Duplicate {kind} block"),
                    format!("Only one block of type \"{kind}\" is allowed here. Remove the others."),
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

/// Returns the arguments and blocks that a body of the schema `block` may contain.
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
                // In JSON, an argument and a list of blocks are indistinguishable, so the value is decoded as the
                // argument.
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
