//! Checks of references against schemas. An invalid reference is an error whatever the values are, and is reported even where
//! evaluation would pass over it or catch it.

use std::collections::BTreeMap;

use groma_config::{Configuration, DeepReference};
use groma_diagnostics::{Diagnostic, Diagnostics, Span, did_you_mean};
use groma_hcl::{LiteralKey, Step};
use groma_lang::follow;
use groma_provider::{Block, Item, NestedBlock, Nesting};
use groma_value::Value;

use crate::config_graph::ConfigGraph;
use crate::templates::Templates;

/// `diagnostics`, with what is wrong with references into objects. What evaluation has said of the same references is left out.
pub(crate) fn check(
    configuration: &Configuration,
    graph: &ConfigGraph,
    templates: &Templates,
    diagnostics: Diagnostics,
) -> Diagnostics {
    let wrong = |reference: &DeepReference| {
        let problem = problem(reference, graph, templates)?;
        Some((reference.traversal.span, problem))
    };
    let found: Vec<(Span, Diagnostic)> = configuration.deep_references.iter().filter_map(wrong).collect();
    if found.is_empty() {
        return diagnostics;
    }
    let ends: BTreeMap<u32, u32> = found.iter().map(|(span, _)| (span.start(), span.end())).collect();
    let is_of_one = |place: Span| ends.range(..=place.start()).next_back().is_some_and(|(_, end)| place.end() <= *end);
    let mut others: Diagnostics =
        diagnostics.into_iter().filter(|other| !(other.is_error() && other.subject.is_some_and(is_of_one))).collect();
    others.append(found.into_iter().map(|(span, problem)| problem.within(span)));
    others
}

fn problem(reference: &DeepReference, graph: &ConfigGraph, templates: &Templates) -> Option<Diagnostic> {
    let template = templates.resource(graph.find(&reference.module)?, reference.resource)?;
    in_block(&template.schema.block, reference.traversal.steps().get(reference.steps..)?).err()
}

/// Follows `steps` into the object of a block.
pub(crate) fn in_block(block: &Block, steps: &[Step]) -> Result<(), Diagnostic> {
    let Some((first, rest)) = steps.split_first() else { return Ok(()) };
    let (name, span) = match first {
        Step::Attribute { name, span } => (name, *span),
        Step::Index { key, span } => {
            let meant = match key {
                LiteralKey::String(name) if block.item(name).is_some() => format!(": .{name}"),
                _ => String::new(),
            };
            let detail = format!("This is an object. Refer to its attributes with a dot{meant}.");
            return Err(Diagnostic::error("Invalid index operation", detail).at(*span));
        }
    };
    match block.item(name) {
        Some(Item::Attribute(attribute)) => follow(&Value::unknown(attribute.ty()), rest).map(|_| ()),
        Some(Item::Block(nested)) => in_nested(nested, name, rest),
        None => {
            let advice = did_you_mean(name, block.shape().names().iter().map(|name| &**name));
            let detail = format!("This object has neither an attribute nor a nested block {name:?}.{advice}");
            Err(Diagnostic::error("Unsupported attribute", detail).at(span))
        }
    }
}

/// Follows `steps` into what nested blocks of the kind `name` have become.
fn in_nested(nested: &NestedBlock, name: &str, steps: &[Step]) -> Result<(), Diagnostic> {
    let Some((first, rest)) = steps.split_first() else { return Ok(()) };
    match (nested.nesting(), first) {
        (Nesting::Single | Nesting::Group, _) => in_block(nested.block(), steps),
        (Nesting::List, Step::Index { .. }) | (Nesting::Map, _) => in_block(nested.block(), rest),
        (Nesting::List, Step::Attribute { .. }) => {
            let detail = format!(
                "The blocks {name:?} are a list of objects. Select one with .{name}[0], or an attribute of all of \
                 them with .{name}[*]."
            );
            Err(Diagnostic::error("Invalid operation", detail).at(first.span()))
        }
        (Nesting::Set, _) => {
            let detail = format!(
                "The blocks {name:?} are a set of objects, which has neither an order nor keys. Select one with a \
                 \"for\" expression and a condition, [for one in {name} : one if ...], or an attribute of all of \
                 them with .{name}[*]."
            );
            Err(Diagnostic::error("Cannot index a set value", detail).at(first.span()))
        }
    }
}
