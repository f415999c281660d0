//! Looking at every expression of a body without knowing what its arguments and blocks mean.

use crate::ast::{Expression, ExpressionKind};
use crate::body::JsonBody;
use crate::body::NativeBody;
use crate::body::{Body, Hidden, Source};

impl Body {
    /// Calls `visit` with every expression in this body and in the blocks inside it, in no particular order.
    ///
    /// For whoever needs to know what a body refers to before its schema is known. What an earlier
    /// [`Body::partial_content`] took out is left out.
    pub fn for_each_expression(&self, visit: &mut dyn FnMut(&Expression)) {
        let hidden = self.hidden();
        match &self.source {
            Source::Native(body) => native(body, hidden, visit),
            // Without a schema arguments and blocks of JSON look the same: all of it counts as expressions.
            Source::Json(body) => json(body, hidden, visit),
            Source::Merged(body) => {
                body.base.for_each_expression(visit);
                body.other.for_each_expression(visit);
            }
        }
    }
}

fn native(body: &NativeBody, hidden: &Hidden, visit: &mut dyn FnMut(&Expression)) {
    for attribute in &body.attributes {
        if !hidden.has_attribute(&attribute.name.name) {
            visit(&attribute.expression);
        }
    }
    for block in &body.blocks {
        if !hidden.has_block(&block.kind.name) {
            block.body.for_each_expression(visit);
        }
    }
}

fn json(body: &JsonBody, hidden: &Hidden, visit: &mut dyn FnMut(&Expression)) {
    let ExpressionKind::Object(items) = &body.value.kind else { return visit(&body.value) };
    for item in items.iter() {
        match &item.key.kind {
            ExpressionKind::String(name) if hidden.has_attribute(name) || hidden.has_block(name) => {}
            _ => visit(&item.value),
        }
    }
}
