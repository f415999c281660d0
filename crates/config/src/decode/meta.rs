//! Common parts of provider, resource and provisioner blocks: reserved blocks, the escape block, and conflicts between
//! `count` and `for_each`.

use groma_diagnostics::Span;
use groma_hcl::{Attribute, Block, Body, Content, Expression};

use super::context::Decoding;

/// Reports a block whose name is reserved for future versions of the language.
pub(super) fn reserved_block(block: &Block, holder: &str, decoding: &mut Decoding<'_>) {
    decoding.error(
        block.kind.span,
        format!("Reserved block type name in {holder} block"),
        format!("The name {:?} is reserved for future use and cannot be a block here.", block.kind.name),
    );
}

/// Merges the content of the escape block `_` into `rest`. In it, an argument belongs to the provider even if it has
/// the name of a meta-argument.
pub(super) fn with_escape_block(content: &Content, rest: Body, holder: &str, decoding: &mut Decoding<'_>) -> Body {
    let mut seen: Option<Span> = None;
    let mut body = rest;
    for block in content.blocks_of("_") {
        if let Some(first) = seen {
            let location = decoding.location(first);
            decoding.error(
                block.header,
                "Duplicate escaping block",
                format!(
                    "A {holder} block can have only one \"_\" block, and the first is at {location}. Merge the two blocks."
                ),
            );
            continue;
        }
        seen = Some(block.header);
        body = body.overridden_by(&block.body);
    }
    body
}

/// Reports more than one of `count`, `for_each` and `enabled`; `things` is the plural of the repeated object.
pub(super) fn one_repetition(present: &[(&str, Option<&Attribute>)], things: &str, decoding: &mut Decoding<'_>) {
    let mut written: Vec<(&str, &Attribute)> =
        present.iter().filter_map(|(name, attribute)| attribute.map(|attribute| (*name, attribute))).collect();
    if written.len() < 2 {
        return;
    }
    written.sort_by_key(|(name, _)| *name);
    let names: Vec<String> = written.iter().map(|(name, _)| format!("{name:?}")).collect();
    // Terraform and OpenTofu point at for_each, or else at count, independent of their order.
    let is_of_lifecycle = |name: &str| name == "enabled";
    let Some((_, superfluous)) = written.iter().rev().find(|(name, _)| !is_of_lifecycle(name)) else { return };
    let names = match names.as_slice() {
        [first, second] => format!("{first} and {second}"),
        [first, second, third] => format!("{first}, {second}, and {third}"),
        others => others.join(", "),
    };
    decoding.error(
        superfluous.name.span,
        format!("Invalid combination of {names}"),
        format!("{names} each determine the number of {things}. Use only one of them."),
    );
}

/// Returns the unevaluated expression of an argument.
pub(super) fn expression_of(attribute: Option<&Attribute>) -> Option<Expression> {
    attribute.map(|attribute| attribute.expression.clone())
}

/// Reports a duplicate `lifecycle` block.
pub(super) fn duplicate_lifecycle(block: &Block, first: Span, holder: &str, decoding: &mut Decoding<'_>) {
    let location = decoding.location(first);
    decoding.error(
        block.header,
        "Duplicate lifecycle block",
        format!("This {holder} already has a lifecycle block at {location}. Merge the two blocks."),
    );
}
