//! `check` blocks.

use std::sync::LazyLock;

use groma_hcl::{Block, BodySchema};

use super::context::Decoding;
use super::{condition, name, resource};
use crate::model::{Check, Resource, ScopedData};

static CHECK: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().block("data", &["type", "name"]).block("assert", &[]));

/// Decodes a check with the data resource inside it.
pub(super) fn check(block: &Block, decoding: &mut Decoding<'_>) -> Option<(Check, Option<Resource>)> {
    let label = block.labels.first()?;
    if decoding.is_override() {
        decoding.error(
            block.header,
            "Can't override check blocks",
            "Override files cannot contain check blocks. Move the block to another file.",
        );
        return None;
    }
    name::check(label, "check block name", decoding);
    let content = decoding.content(&block.body, &CHECK);
    // An unreadable nested block may declare the data source that others refer to.
    decoding.incomplete |= !content.is_whole();
    let mut data: Option<Resource> = None;
    for nested in content.blocks_of("data") {
        if let Some(first) = &data {
            let location = decoding.location(first.header_span);
            decoding.error(
                nested.header,
                "Multiple data resource blocks",
                format!("A check block can have only one data resource, and this one already has one at {location}."),
            );
            continue;
        }
        data = resource::scoped_data(nested, &label.value, decoding);
    }
    let has_asserts = content.blocks_of("assert").next().is_some();
    // A block with a syntax error may be an assertion.
    if !has_asserts && !decoding.unparsed.is_in(block.span) {
        decoding.error(block.header, "Zero assert blocks", "A check block must have at least one assert block.");
    }
    let assertions = content.blocks_of("assert").filter_map(|nested| condition::condition(nested, decoding)).collect();
    let scoped = data.as_ref().map(|data| ScopedData { address: data.address.clone(), span: data.header_span });
    Some((Check { name: label.value.clone(), data: scoped, assertions, span: block.header }, data))
}
