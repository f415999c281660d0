//! Common parts of the blocks of providers, resources and provisioners: reserved blocks, the escape block, and the
//! choice between count and for_each.

use groma_diagnostics::Span;
use groma_hcl::{Attribute, Block, Body, Content, Expression};

use super::context::Decoding;

/// Reports a block whose name is kept for later versions of the language.
pub(super) fn reserved_block(block: &Block, holder: &str, decoding: &mut Decoding<'_>) {
    decoding.error(
        block.kind.span,
        format!("Reserved block type name in {holder} block"),
        format!("The name {:?} is kept for later use and cannot be a block here.", block.kind.name),
    );
}

/// `rest` with what the `_` block holds: there an argument is the provider's even where its name is a meta-argument's.
pub(super) fn with_escape_block(content: &Content, rest: Body, holder: &str, decoding: &mut Decoding<'_>) -> Body {
    let mut seen: Option<Span> = None;
    let mut body = rest;
    for block in content.blocks_of("_") {
        if let Some(first) = seen {
            let place = decoding.place(first);
            decoding.error(
                block.header,
                "Duplicate escaping block",
                format!(
                    "A {holder} block has one \"_\" block at most, and the first is at {place}. Put all into that one."
                ),
            );
            continue;
        }
        seen = Some(block.header);
        body = body.overridden_by(&block.body);
    }
    body
}

/// Reports more than one of count, for_each and enabled; `things` is what they would make several of.
pub(super) fn one_repetition(present: &[(&str, Option<&Attribute>)], things: &str, decoding: &mut Decoding<'_>) {
    let mut written: Vec<(&str, &Attribute)> =
        present.iter().filter_map(|(name, attribute)| attribute.map(|attribute| (*name, attribute))).collect();
    if written.len() < 2 {
        return;
    }
    written.sort_by_key(|(name, _)| *name);
    let names: Vec<String> = written.iter().map(|(name, _)| format!("{name:?}")).collect();
    // Terraform and OpenTofu point at for_each, or else at count, wherever they stand.
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
        format!("Each of {names} says how many {things} there are; use one of them."),
    );
}

/// Returns the expression of an argument, to be evaluated later.
pub(super) fn expression_of(attribute: Option<&Attribute>) -> Option<Expression> {
    attribute.map(|attribute| attribute.expression.clone())
}

/// Reports a second `lifecycle` block.
pub(super) fn duplicate_lifecycle(block: &Block, first: Span, holder: &str, decoding: &mut Decoding<'_>) {
    let place = decoding.place(first);
    decoding.error(
        block.header,
        "Duplicate lifecycle block",
        format!("This {holder} has a lifecycle block at {place} already. Put all into that one."),
    );
}
