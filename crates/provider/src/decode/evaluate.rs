//! Evaluation of a decoded body in a scope, once per instance.

use std::collections::HashSet;

use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_hcl::Expression;
use groma_lang::{Scope, evaluate};
use groma_value::{Marks, Type, Value, convert::convert};

use super::dynamic::Expansion;
use super::node::{Blocks, Dynamic, Entry, Node, SlotNode};
use super::structure::count_problem;
use crate::Name;
use crate::schema::{Item, Nesting, Slot};

impl Node {
    /// Evaluates the body to a value of the schema's implied type, even after errors.
    pub(super) fn evaluate(&self, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Value {
        self.evaluate_marked(&Marks::default(), scope, diagnostics)
    }

    /// Evaluates the body and adds `marks` to every set argument.
    pub(super) fn evaluate_marked(&self, marks: &Marks, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Value {
        self.object(|slot, found| match found {
            SlotNode::Argument(expression) => marked(argument(slot, expression, scope, diagnostics), marks),
            SlotNode::Blocks(blocks) => blocks.evaluate(slot, self.missing, scope, diagnostics),
        })
    }

    /// Returns the value of a body that may or may not exist: everything it sets is unknown.
    fn unknown_value(&self, marks: &Marks) -> Value {
        self.object(|slot, found| match found {
            SlotNode::Argument(_) => marked(Value::unknown(slot.item.ty()), marks),
            SlotNode::Blocks(_) => Value::unknown(slot.item.ty()),
        })
    }

    /// Creates an object that has `value_of` in the filled slots and is empty otherwise.
    fn object(&self, mut value_of: impl FnMut(&Slot, &SlotNode) -> Value) -> Value {
        let empty = self.block.empty_value().as_object();
        let mut values = empty.map(|object| object.values().to_vec()).unwrap_or_default();
        for (position, found) in &self.filled {
            if let (Some(slot), Some(value)) = (self.block.slots().get(*position), values.get_mut(*position)) {
                *value = value_of(slot, found);
            }
        }
        self.block.object(values)
    }
}

fn marked(value: Value, marks: &Marks) -> Value {
    if marks.is_empty() { value } else { value.with_marks(marks) }
}

fn argument(slot: &Slot, expression: &Expression, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Value {
    let value = evaluate(expression, scope, diagnostics);
    let ty = match &slot.item {
        Item::Attribute(attribute) => attribute.config_type(),
        Item::Block(_) => return value,
    };
    // The common case: conversion would walk the whole value only to return it unchanged.
    if *ty == Type::Dynamic || value.has_type(ty) {
        return value;
    }
    match convert(&value, ty) {
        Ok(value) => value,
        Err(problem) => {
            let detail = format!("Inappropriate value for attribute \"{}\": {}.", slot.name, problem.message);
            let error = Diagnostic::error("Incorrect attribute value type", detail).at(expression.span);
            diagnostics.push(error);
            // Unknown instead of null, so that the error causes no further errors about a missing value.
            Value::unknown(slot.item.ty())
        }
    }
}

/// The source locations of one block for diagnostics.
#[derive(Clone, Copy)]
struct BlockSpans {
    /// The header, for problems of the block alone.
    header: Span,
    /// The location for problems with the number of blocks.
    counted: Span,
}

impl BlockSpans {
    fn of_static(header: Span) -> Self {
        Self { header, counted: header }
    }

    /// Returns the locations of a generated block. Where several blocks are allowed, a wrong number is reported at the
    /// content.
    fn of_dynamic(dynamic: &Dynamic, nesting: Nesting) -> Self {
        let counted = match nesting {
            Nesting::Single | Nesting::Group => dynamic.header,
            Nesting::List | Nesting::Set | Nesting::Map => dynamic.content.missing,
        };
        Self { header: dynamic.header, counted }
    }
}

/// Blocks of one type, before they become one value.
#[derive(Default)]
struct CollectedBlocks {
    values: Vec<Value>,
    labels: Vec<Name>,
    taken: HashSet<Name>,
    counted: Vec<Span>,
    unknown: bool,
    failed: bool,
}

impl Blocks {
    fn evaluate(&self, slot: &Slot, missing: Span, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Value {
        let mut collected = CollectedBlocks::default();
        let mut all_static = true;
        let is_one = matches!(self.nested.nesting(), Nesting::Single | Nesting::Group);
        for entry in &self.entries {
            match entry {
                Entry::Static { label, header, node } => {
                    let value = node.evaluate(scope, diagnostics);
                    let label = label.as_ref().map(|label| label.value.clone());
                    collected.add(label, value, BlockSpans::of_static(*header), slot, diagnostics);
                }
                Entry::Dynamic(dynamic) => {
                    all_static = false;
                    let spans = BlockSpans::of_dynamic(dynamic, self.nested.nesting());
                    match dynamic.expand(scope, diagnostics) {
                        None => collected.failed = true,
                        Some(Expansion::Unknown(marks)) if is_one => {
                            collected.add(None, dynamic.content.unknown_value(&marks), spans, slot, diagnostics);
                        }
                        Some(Expansion::Unknown(_)) => collected.unknown = true,
                        Some(Expansion::Blocks(blocks, marks)) => {
                            for (label, value) in blocks {
                                // The number of blocks reveals something about a marked collection, unless at most one
                                // block is allowed.
                                let value = if is_one { value } else { marked(value, &marks) };
                                collected.add(label, value, spans, slot, diagnostics);
                            }
                        }
                    }
                }
            }
        }
        if collected.failed {
            return Value::unknown(slot.item.ty());
        }
        if collected.unknown {
            return Value::unknown(slot.item.ty());
        }
        if !all_static {
            diagnostics.append(count_problem(&slot.name, &self.nested, &collected.counted, missing));
        }
        self.combine(collected, &slot.item)
    }

    /// Combines the blocks into the single value of the slot.
    fn combine(&self, collected: CollectedBlocks, item: &Item) -> Value {
        let CollectedBlocks { mut values, labels, .. } = collected;
        let element = self.nested.block().implied_type();
        let structural = element.has_dynamic();
        match self.nested.nesting() {
            _ if values.is_empty()
                && self.nested.nesting() != Nesting::List
                && self.nested.nesting() != Nesting::Set =>
            {
                item.empty_value().clone()
            }
            Nesting::Single | Nesting::Group => values.swap_remove(0),
            Nesting::List if structural => Value::tuple(values),
            Nesting::List => Value::list(element.clone(), values),
            Nesting::Set => Value::set(element.clone(), values),
            Nesting::Map if structural => Value::object(labels.into_iter().zip(values)),
            Nesting::Map => Value::map(element.clone(), labels.into_iter().zip(values)),
        }
    }
}

impl CollectedBlocks {
    fn add(
        &mut self,
        label: Option<Name>,
        value: Value,
        spans: BlockSpans,
        slot: &Slot,
        diagnostics: &mut Diagnostics,
    ) {
        if let Some(label) = label {
            if !self.taken.insert(label.clone()) {
                let kind = &slot.name;
                let detail =
                    format!("A \"{kind}\" block with the label \"{label}\" already exists. Labels must be unique.");
                diagnostics.push(Diagnostic::error(format!("Duplicate {kind} block"), detail).at(spans.header));
                return;
            }
            self.labels.push(label);
        }
        self.values.push(value);
        self.counted.push(spans.counted);
    }
}
