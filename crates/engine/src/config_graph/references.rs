//! What expressions and bodies mention.
//!
//! Mistakes in references are reported where the configuration is checked and where it is evaluated; here they are left out.

use std::sync::Arc;

use groma_hcl::{Body, Expression, ExpressionKind, Traversal};
use groma_lang::{Referenced, parse_reference, references};

/// Everything that `expression` mentions.
pub fn expression_references(expression: &Expression) -> Vec<Referenced> {
    references(expression).0
}

/// What the keys of an address mention: `each.key` in `aws_vpc.main[each.key]`.
pub fn key_references(address: &Expression) -> Vec<Referenced> {
    match &address.kind {
        ExpressionKind::Index(index) => {
            let mut found = key_references(&index.source);
            found.extend(expression_references(&index.key));
            found
        }
        ExpressionKind::Relative(relative) => key_references(&relative.source),
        ExpressionKind::Parentheses(inner) => key_references(inner),
        _ => Vec::new(),
    }
}

/// Everything that the arguments of `body` and of the blocks in it mention, whatever they mean.
pub fn body_references(body: &Body) -> Vec<Referenced> {
    let mut found = Vec::new();
    body.for_each_expression(&mut |expression| found.extend(references(expression).0));
    found
}

/// What an entry of a `depends_on` list mentions.
pub fn traversal_references(traversals: &[Arc<Traversal>]) -> impl Iterator<Item = Referenced> + '_ {
    traversals.iter().filter_map(|traversal| parse_reference(traversal).ok())
}
