//! Looking at every expression of a body without knowing what its arguments and blocks mean.

use crate::ast::{Expression, ExpressionKind};
use crate::body::{Body, Hidden, NativeBody, Source};
use crate::overriding::{COMMENT, DYNAMIC, objects, property_name};

impl Body {
    /// Calls `visit` with every expression in this body and in the blocks inside it, in no particular order.
    ///
    /// For code that needs the references of a body before its schema is known. Items that an earlier
    /// [`Body::partial_content`] returned are left out, and so are those that an override replaces.
    pub fn for_each_expression(&self, visit: &mut dyn FnMut(&Expression)) {
        let hidden = self.hidden();
        match &self.source {
            Source::Native(body) => native(body, hidden, visit),
            // Without a schema arguments and blocks of JSON look the same: all of it counts as expressions.
            Source::Json(body) => json(&body.value, hidden, visit),
            Source::Merged(body) => {
                body.kept().for_each_expression(visit);
                body.other.for_each_expression(visit);
            }
        }
    }
}

fn native(body: &NativeBody, hidden: &Hidden, visit: &mut dyn FnMut(&Expression)) {
    for attribute in body.attributes() {
        if !hidden.has_attribute(&attribute.name.name) {
            visit(&attribute.expression);
        }
    }
    for block in &body.blocks {
        if !hidden.hides(block) {
            block.body.for_each_expression(visit);
        }
    }
}

fn json(value: &Expression, hidden: &Hidden, visit: &mut dyn FnMut(&Expression)) {
    if !matches!(value.kind, ExpressionKind::Object(_) | ExpressionKind::Tuple(_)) {
        return visit(value);
    }
    for item in objects(value).flatten() {
        match property_name(item).map(|name| &**name) {
            Some(COMMENT) => {}
            Some(name) if hidden.has_attribute(name) || hidden.has_block(name) => {}
            Some(DYNAMIC) => {
                let kept = objects(&item.value).flatten().filter(|kind| !hidden.hides_kind(kind));
                kept.for_each(|kind| visit(&kind.value));
            }
            _ => visit(&item.value),
        }
    }
}
