//! Decoding of OpenTofu's `encryption` block: key providers, methods and targets.

use std::sync::LazyLock;

use groma_address::{Name, is_identifier};
use groma_hcl::{Block, Body, BodySchema};
use indexmap::IndexMap;

use super::context::Decoding;
use super::{literal, name};
use crate::model::encryption::{EncryptionBlock, EncryptionPart, EncryptionTarget, RemoteTargets};

static ENCRYPTION: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .block("key_provider", &["type", "name"])
        .block("method", &["type", "name"])
        .block("state", &[])
        .block("plan", &[])
        .block("remote_state_data_sources", &[])
});

static TARGET: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().optional("method").block("fallback", &[]));

static ENFORCEABLE: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().optional("method").optional("enforced").block("fallback", &[]));

static REMOTE: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().block("default", &[]).block("remote_state_data_source", &["name"]));

/// Decodes an `encryption` block.
pub(super) fn encryption(block: &Block, decoding: &mut Decoding<'_>) -> EncryptionBlock {
    EncryptionBlock { span: block.header, ..content(&block.body, decoding) }
}

/// Decodes the content of an `encryption` block, or of `TF_ENCRYPTION`.
pub(crate) fn content(body: &Body, decoding: &mut Decoding<'_>) -> EncryptionBlock {
    let content = decoding.content(body, &ENCRYPTION);
    let mut encryption = EncryptionBlock { has_unread_parts: !content.is_whole(), ..EncryptionBlock::default() };
    for nested in &content.blocks {
        match &*nested.kind.name {
            "key_provider" | "method" if !has_valid_labels(nested, decoding) => encryption.has_unread_parts = true,
            "key_provider" => part(nested, &mut encryption.key_providers, decoding),
            "method" => part(nested, &mut encryption.methods, decoding),
            "state" => once(nested, &mut encryption.state, decoding),
            "plan" => once(nested, &mut encryption.plan, decoding),
            _ => remote(nested, &mut encryption.remote, decoding),
        }
    }
    encryption
}

/// Whether the labels of a key provider or method are identifiers; reports the first that is not.
fn has_valid_labels(block: &Block, decoding: &mut Decoding<'_>) -> bool {
    let Some((label, role)) = block.labels.iter().zip(["type", "name"]).find(|(label, _)| !is_identifier(&label.value))
    else {
        return true;
    };
    let what = block.kind.name.replace('_', " ");
    decoding.error(label.span, format!("The provided {what} {role} is invalid"), name::RULE);
    false
}

fn part(block: &Block, parts: &mut IndexMap<(Name, Name), EncryptionPart>, decoding: &mut Decoding<'_>) {
    // The schema guarantees the two labels.
    let [kind, own] = block.labels.as_slice() else { return };
    let key = (kind.value.clone(), own.value.clone());
    if let Some(first) = parts.get(&key) {
        let location = decoding.location(first.span);
        decoding.error(
            block.header,
            format!("Duplicate {}", block.kind.name),
            format!(
                "{} {}.{} is already declared at {location}. Rename or remove one of the two.",
                block.kind.name, key.0, key.1
            ),
        );
        return;
    }
    parts.insert(key, EncryptionPart { body: block.body.clone(), span: block.header });
}

fn once(block: &Block, slot: &mut Option<EncryptionTarget>, decoding: &mut Decoding<'_>) {
    let target = target(block, &ENFORCEABLE, decoding);
    keep_first(block, target, slot, decoding);
}

fn keep_first(
    block: &Block,
    target: EncryptionTarget,
    slot: &mut Option<EncryptionTarget>,
    decoding: &mut Decoding<'_>,
) {
    match slot {
        None => *slot = Some(target),
        Some(first) => {
            let (location, kind) = (decoding.location(first.span), &block.kind.name);
            decoding.error(
                block.header,
                format!("Duplicate {kind} block"),
                format!("A {kind:?} block is already at {location}. Remove one of the two."),
            );
        }
    }
}

fn target(block: &Block, schema: &BodySchema, decoding: &mut Decoding<'_>) -> EncryptionTarget {
    let content = decoding.content(&block.body, schema);
    let enforced = content.get("enforced").and_then(|attribute| literal::boolean(attribute, decoding));
    let mut fallback = None;
    for nested in content.blocks_of("fallback") {
        let target = target(nested, &TARGET, decoding);
        keep_first(nested, target, &mut fallback, decoding);
    }
    EncryptionTarget {
        enforced: enforced.unwrap_or(false),
        method: content.get("method").map(|attribute| attribute.expression.clone()),
        fallback: fallback.map(Box::new),
        span: block.header,
    }
}

// Target blocks may be split over several `remote_state_data_sources` blocks, as in OpenTofu.
fn remote(block: &Block, slot: &mut Option<RemoteTargets>, decoding: &mut Decoding<'_>) {
    let content = decoding.content(&block.body, &REMOTE);
    let remote = slot.get_or_insert_default();
    for nested in &content.blocks {
        let target = target(nested, &TARGET, decoding);
        match nested.labels.first() {
            None => keep_first(nested, target, &mut remote.default, decoding),
            Some(label) => {
                // Removed and inserted again to reuse the duplicate check for single blocks.
                let mut named = remote.named.swap_remove(&label.value);
                keep_first(nested, target, &mut named, decoding);
                remote.named.extend(named.map(|target| (label.value.clone(), target)));
            }
        }
    }
}
