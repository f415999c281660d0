//! The value of a body in a scope: once an instance.

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
    /// The value in `scope`: of the implied type of the schema, also after errors.
    pub(super) fn evaluate(&self, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Value {
        self.evaluate_marked(&Marks::default(), scope, diagnostics)
    }

    /// The same, with marks on what is set.
    pub(super) fn evaluate_marked(&self, marks: &Marks, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Value {
        self.object(|slot, found| match found {
            SlotNode::Argument(expression) => marked(argument(slot, expression, scope, diagnostics), marks),
            SlotNode::Blocks(blocks) => blocks.evaluate(slot, self.missing, scope, diagnostics),
        })
    }

    /// The value while it is not known whether there is a body: nothing is known of what it sets.
    fn undecided(&self, marks: &Marks) -> Value {
        self.object(|slot, found| match found {
            SlotNode::Argument(_) => marked(Value::unknown(slot.item.ty()), marks),
            SlotNode::Blocks(_) => Value::unknown(slot.item.ty()),
        })
    }

    /// An object with a value for each slot that is filled.
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
    if *ty == Type::Dynamic || value.has_type(ty) {
        return value;
    }
    match convert(&value, ty) {
        Ok(value) => value,
        Err(problem) => {
            let detail = format!("Inappropriate value for attribute \"{}\": {}.", slot.name, problem.message);
            let error = Diagnostic::error("Incorrect attribute value type", detail).at(expression.span);
            diagnostics.push(error);
            Value::unknown(slot.item.ty())
        }
    }
}

/// Where a block stands.
#[derive(Clone, Copy)]
struct Place {
    /// What is wrong with it by itself is told here.
    header: Span,
    /// That it is one too many is told here.
    counted: Span,
}

impl Place {
    fn written_out(header: Span) -> Self {
        Self { header, counted: header }
    }

    /// Of a block that a dynamic block makes: where there can be several, it is the content that is one too many.
    fn made_by(dynamic: &Dynamic, nesting: Nesting) -> Self {
        let counted = match nesting {
            Nesting::Single | Nesting::Group => dynamic.header,
            Nesting::List | Nesting::Set | Nesting::Map => dynamic.content.missing,
        };
        Self { header: dynamic.header, counted }
    }
}

/// Blocks of one kind as they are found, before they become one value.
#[derive(Default)]
struct Gathered {
    values: Vec<Value>,
    labels: Vec<Name>,
    taken: HashSet<Name>,
    counted: Vec<Span>,
    unknown: bool,
    failed: bool,
}

impl Blocks {
    fn evaluate(&self, slot: &Slot, missing: Span, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Value {
        let mut gathered = Gathered::default();
        let mut all_static = true;
        let is_one = matches!(self.nested.nesting(), Nesting::Single | Nesting::Group);
        for entry in &self.entries {
            match entry {
                Entry::Static { label, header, node } => {
                    let value = node.evaluate(scope, diagnostics);
                    let label = label.as_ref().map(|label| label.value.clone());
                    gathered.add(label, value, Place::written_out(*header), slot, diagnostics);
                }
                Entry::Dynamic(dynamic) => {
                    all_static = false;
                    let place = Place::made_by(dynamic, self.nested.nesting());
                    match dynamic.expand(scope, diagnostics) {
                        None => gathered.failed = true,
                        Some(Expansion::Unknown(marks)) if is_one => {
                            gathered.add(None, dynamic.content.undecided(&marks), place, slot, diagnostics);
                        }
                        Some(Expansion::Unknown(_)) => gathered.unknown = true,
                        Some(Expansion::Blocks(blocks, marks)) => {
                            for (label, value) in blocks {
                                // How many there are is a part of the secret, where there can be several.
                                let value = if is_one { value } else { marked(value, &marks) };
                                gathered.add(label, value, place, slot, diagnostics);
                            }
                        }
                    }
                }
            }
        }
        if gathered.failed {
            return Value::unknown(slot.item.ty());
        }
        if gathered.unknown {
            return Value::unknown(slot.item.ty());
        }
        if !all_static {
            diagnostics.append(count_problem(&slot.name, &self.nested, &gathered.counted, missing));
        }
        self.combine(gathered, &slot.item)
    }

    /// The one value that stands for all the blocks.
    fn combine(&self, gathered: Gathered, item: &Item) -> Value {
        let Gathered { mut values, labels, .. } = gathered;
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

impl Gathered {
    fn add(&mut self, label: Option<Name>, value: Value, place: Place, slot: &Slot, diagnostics: &mut Diagnostics) {
        if let Some(label) = label {
            if !self.taken.insert(label.clone()) {
                let kind = &slot.name;
                let detail =
                    format!("A block \"{kind}\" with the label \"{label}\" is there already. Labels must be unique.");
                diagnostics.push(Diagnostic::error(format!("Duplicate {kind} block"), detail).at(place.header));
                return;
            }
            self.labels.push(label);
        }
        self.values.push(value);
        self.counted.push(place.counted);
    }
}
