//! Base bodies without the items that an override replaces, before a schema distinguishes arguments from blocks.

use std::sync::Arc;

use crate::ast::{Expression, ExpressionKind, Name, ObjectItem};
use crate::body::{Body, Hidden, MergedBody, Source};

/// The block type that generates blocks of any other type.
pub(crate) const DYNAMIC: &str = "dynamic";

/// The name of properties that are comments where arguments and blocks are expected.
pub(crate) const COMMENT: &str = "//";

impl MergedBody {
    /// The base without what the override replaces.
    pub(crate) fn kept(&self) -> Body {
        let mut replaced = Hidden::default();
        self.other.names(&mut replaced);
        self.base.without(&replaced)
    }
}

impl Body {
    /// Adds the names of arguments and the kinds of blocks that are here; in the JSON syntax a name may be either.
    fn names(&self, into: &mut Hidden) {
        let hidden = self.hidden();
        match &self.source {
            Source::Native(body) => {
                let names = body.attributes().iter().map(|attribute| &attribute.name.name);
                into.attributes.extend(names.filter(|name| !hidden.has_attribute(name)).cloned());
                let blocks = body.blocks.iter().filter(|block| !hidden.has_block(&block.kind.name));
                into.blocks.extend(blocks.map(|block| Name::clone(block.effective_kind())));
            }
            Source::Json(body) => {
                for item in objects(&body.value).flatten() {
                    match property_name(item) {
                        Some(name) if hidden.has_attribute(name) || hidden.has_block(name) || &**name == COMMENT => {}
                        Some(name) if &**name == DYNAMIC => {
                            let kinds = objects(&item.value).flatten().filter_map(property_name);
                            into.blocks.extend(kinds.cloned());
                        }
                        name => {
                            into.attributes.extend(name.cloned());
                            into.blocks.extend(name.cloned());
                        }
                    }
                }
            }
            Source::Merged(body) => {
                body.base.names(into);
                body.other.names(into);
            }
        }
    }

    fn without(&self, names: &Hidden) -> Self {
        if let Source::Merged(body) = &self.source {
            let merged = MergedBody { base: body.base.without(names), other: body.other.without(names) };
            return Self { source: Source::Merged(Arc::new(merged)), hidden: None };
        }
        let mut hidden = self.hidden().clone();
        hidden.attributes.extend(names.attributes.iter().cloned());
        hidden.blocks.extend(names.blocks.iter().cloned());
        Self { source: self.source.clone(), hidden: Some(Arc::new(hidden)) }
    }
}

impl Hidden {
    /// Whether blocks of a `dynamic` property, in the JSON syntax, are not to be seen.
    pub(crate) fn hides_kind(&self, kind: &ObjectItem) -> bool {
        property_name(kind).is_some_and(|name| self.has_block(name))
    }
}

/// The name of a property of the JSON syntax.
pub(crate) fn property_name(item: &ObjectItem) -> Option<&Name> {
    match &item.key.kind {
        ExpressionKind::String(name) => Some(name),
        ExpressionKind::JsonString(name) => Some(&name.text),
        _ => None,
    }
}

/// The objects that an object, or an array of objects, is.
pub(crate) fn objects(value: &Expression) -> impl Iterator<Item = &[ObjectItem]> {
    let several = match &value.kind {
        ExpressionKind::Tuple(elements) => &elements[..],
        _ => std::slice::from_ref(value),
    };
    several.iter().filter_map(Expression::as_object)
}
