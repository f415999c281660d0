//! The names that `dynamic` blocks give a meaning inside themselves.

use crate::ast::{Expression, ExpressionKind, Name};
use crate::body::{Block, Body, Source};

/// The kind of block that stands for any number of others.
const DYNAMIC: &str = "dynamic";

impl Body {
    /// The iterator names of all `dynamic` blocks in this body and in the blocks inside it.
    ///
    /// For whoever looks for references before the body's schema is known: inside such blocks these names are none.
    pub fn dynamic_iterators(&self) -> Vec<Name> {
        let mut names = Vec::new();
        gather(self, &mut names);
        names
    }
}

fn gather(body: &Body, names: &mut Vec<Name>) {
    match &body.source {
        Source::Native(native) => {
            for block in &native.blocks {
                names.extend(iterator(block));
                gather(&block.body, names);
            }
        }
        Source::Json(json) => gather_json(&json.value, names),
        Source::Merged(merged) => {
            gather(&merged.base, names);
            gather(&merged.other, names);
        }
    }
}

fn iterator(block: &Block) -> Option<Name> {
    if &*block.kind.name != DYNAMIC {
        return None;
    }
    let Source::Native(native) = &block.body.source else { return None };
    let written = native.attributes.iter().find(|attribute| &*attribute.name.name == "iterator");
    match written {
        Some(attribute) => attribute.expression.as_keyword(),
        None => block.labels.first().map(|label| Name::clone(&label.value)),
    }
}

/// In the JSON syntax any property of this name may be such a block.
fn gather_json(value: &Expression, names: &mut Vec<Name>) {
    match &value.kind {
        ExpressionKind::Tuple(elements) => elements.iter().for_each(|element| gather_json(element, names)),
        ExpressionKind::Object(items) => {
            for item in items.iter() {
                if matches!(&item.key.kind, ExpressionKind::String(key) if &**key == DYNAMIC) {
                    json_iterators(&item.value, names);
                }
                gather_json(&item.value, names);
            }
        }
        _ => {}
    }
}

fn json_iterators(blocks: &Expression, names: &mut Vec<Name>) {
    for kind in objects(blocks).flat_map(|items| items.iter()) {
        let ExpressionKind::String(label) = &kind.key.kind else { continue };
        for content in objects(&kind.value) {
            let written = content
                .iter()
                .find(|item| matches!(&item.key.kind, ExpressionKind::String(key) if &**key == "iterator"))
                .and_then(|item| item.value.as_keyword());
            names.push(written.unwrap_or_else(|| Name::clone(label)));
        }
    }
}

/// The objects that an object, or an array of objects, is.
fn objects(value: &Expression) -> impl Iterator<Item = &[crate::ast::ObjectItem]> {
    let several = match &value.kind {
        ExpressionKind::Tuple(elements) => &elements[..],
        _ => std::slice::from_ref(value),
    };
    several.iter().filter_map(Expression::as_object)
}
