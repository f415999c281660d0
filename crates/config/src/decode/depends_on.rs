//! Decoding of the `depends_on` argument.

use groma_hcl::{Attribute, Traversal};

use super::context::Decoding;
use super::syntax;

/// The references of a `depends_on` argument. What they may refer to is checked with the whole module at hand.
pub(super) fn depends_on(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Vec<Traversal> {
    let Some(elements) = syntax::list(&attribute.expression, decoding) else { return Vec::new() };
    elements.iter().filter_map(|element| syntax::traversal(element, decoding)).collect()
}
