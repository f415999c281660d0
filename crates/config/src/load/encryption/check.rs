//! What is wrong with an `encryption` block whatever values its arguments have.

use groma_diagnostics::{Diagnostic, Diagnostics};

use super::names::{key_provider_of, method_of};
use super::schemas::{UNENCRYPTED, key_provider_schema, method_schema};
use crate::model::encryption::EncryptionBlock;

/// Reports what is wrong whatever values the arguments have.
pub(super) fn check(block: &EncryptionBlock, diagnostics: &mut Diagnostics) {
    for target in block.targets() {
        let mut targets = vec![target];
        while let Some(target) = targets.pop() {
            diagnostics.append(method_of(block, target).err());
            targets.extend(target.fallback.as_deref());
        }
    }
    for ((kind, _), part) in &block.methods {
        if let Some(schema) = method_schema(kind) {
            let (content, problems) = part.body.content(&schema);
            diagnostics.append(problems);
            if let Some(keys) = content.get("keys") {
                diagnostics.append(key_provider_of(block, &keys.expression).err());
            }
        }
    }
    for ((kind, _), part) in &block.key_providers {
        if let Some(schema) = key_provider_schema(kind) {
            let (content, problems) = part.body.content(&schema);
            diagnostics.append(problems);
            if let Some(chain) = content.get("chain") {
                diagnostics.append(key_provider_of(block, &chain.expression).err());
            }
        }
    }
    diagnostics.append(in_clear(block));
}

/// A warning where something may be in clear.
fn in_clear(block: &EncryptionBlock) -> Option<Diagnostic> {
    let (_, part) = block.methods.iter().find(|((kind, _), _)| &**kind == UNENCRYPTED)?;
    Some(
        Diagnostic::warning(
            "Unencrypted method configured",
            "The method \"unencrypted\" lets states or plans be in clear. It is meant for the time of a migration only.",
        )
        .at(part.span),
    )
}
