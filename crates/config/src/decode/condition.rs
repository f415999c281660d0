//! Conditions with their error messages.

use std::sync::LazyLock;

use groma_hcl::{Block, BodySchema};

use super::Decoding;
use crate::model::Condition;

static CONDITION: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().required("condition").required("error_message"));

/// Decodes a `validation`, `precondition`, `postcondition` or `assert` block.
pub(super) fn condition(block: &Block, decoding: &mut Decoding<'_>) -> Option<Condition> {
    if decoding.is_override() {
        let kind = &block.kind.name;
        decoding.error(
            block.header,
            format!("Can't override {kind} blocks"),
            format!("Override files cannot change conditions. Write the {kind:?} block in the file that declares its object."),
        );
        return None;
    }
    let content = decoding.content(&block.body, &CONDITION);
    let condition = content.get("condition")?.expression.clone();
    let error_message = content.get("error_message")?.expression.clone();
    Some(Condition { condition, error_message, span: block.header })
}
