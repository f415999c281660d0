//! Decoding of conditions and their error messages.

use std::sync::LazyLock;

use groma_address::Resource as ResourceAddress;
use groma_hcl::{Block, BodySchema, Expression};
use groma_lang::{Reference, for_each_traversal, references};

use super::context::Decoding;
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
    if let Some(condition) = content.get("condition") {
        refers_to_something(&condition.expression, &block.kind.name, decoding);
    }
    let condition = content.get("condition")?.expression.clone();
    let error_message = content.get("error_message")?.expression.clone();
    Some(Condition { condition, error_message, span: block.header })
}

fn refers_to_something(condition: &Expression, kind: &str, decoding: &mut Decoding<'_>) {
    // An expression with a syntax error may have been meant to refer to anything.
    let mut any = matches!(condition.kind, groma_hcl::ExpressionKind::Invalid);
    for_each_traversal(condition, &mut |_| any = true);
    if !any {
        decoding.error(
            condition.span,
            format!("Invalid {kind} expression"),
            "The condition refers to no object, so its result is always the same.",
        );
    }
}

/// Reports conditions that refer to their own `resource` by name instead of `self`.
pub(super) fn check_own_name(
    conditions: &[Condition],
    kind: &str,
    resource: &ResourceAddress,
    decoding: &mut Decoding<'_>,
) {
    let itself = Reference::Resource(resource.clone());
    for expression in conditions.iter().flat_map(|condition| [&condition.condition, &condition.error_message]) {
        let (found, _) = references(expression);
        if found.iter().any(|reference| reference.target == itself) {
            let advice = if kind == "postcondition" { " Use self for the object itself." } else { "" };
            decoding.error(
                expression.span,
                format!("Invalid reference in {kind}"),
                format!("A condition of {resource} cannot refer to it by name.{advice}"),
            );
        }
    }
}
