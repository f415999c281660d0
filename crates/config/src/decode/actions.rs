//! `action` blocks.

use std::sync::LazyLock;

use groma_hcl::{Block, BodySchema};

use super::context::Decoding;
use super::meta::expression_of;
use super::{meta, name, provider};
use crate::model::ActionBlock;

static ACTION: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new().optional("count").optional("for_each").optional("provider").block("config", &[])
});

/// Decodes an `action` block.
pub(super) fn action(block: &Block, decoding: &mut Decoding<'_>) -> Option<ActionBlock> {
    let [type_label, name_label] = block.labels.as_slice() else { return None };
    name::check(type_label, "action type name", decoding);
    name::check(name_label, "action name", decoding);
    let content = decoding.content(&block.body, &ACTION);
    let (count, for_each) = (content.get("count"), content.get("for_each"));
    meta::one_repetition(&[("count", count), ("for_each", for_each)], "actions", decoding);
    let mut configs = content.blocks_of("config");
    let config = configs.next();
    for extra in configs {
        decoding.error(
            extra.header,
            "Duplicate config block",
            "An action can have only one config block. Merge the two blocks.",
        );
    }
    Some(ActionBlock {
        type_name: type_label.value.clone(),
        name: name_label.value.clone(),
        count: expression_of(count),
        for_each: expression_of(for_each),
        provider: content.get("provider").and_then(|a| provider::reference(&a.expression, "provider", decoding)),
        config: config.map(|nested| nested.body.clone()),
        span: block.header,
        type_span: type_label.span,
    })
}
