//! Checks of an `encryption` block that need no values.

use groma_diagnostics::{Diagnostic, Diagnostics};

use groma_hcl::Expression;

use super::names::{KeyArgument, key_provider_of, method_name, method_of};
use super::schemas::{UNENCRYPTED, key_provider_schema, method_schema};
use crate::model::encryption::{EncryptionBlock, EncryptionTarget};

/// Reports what is wrong whatever values the arguments have.
pub(super) fn check(block: &EncryptionBlock, diagnostics: &mut Diagnostics) {
    for target in block.targets() {
        let mut targets = vec![target];
        while let Some(target) = targets.pop() {
            diagnostics.append(wrong_method(block, target));
            targets.extend(target.fallback.as_deref());
        }
    }
    for ((kind, _), part) in &block.methods {
        if let Some(schema) = method_schema(kind) {
            let (content, problems) = part.body.content(&schema);
            diagnostics.append(problems);
            if let Some(keys) = content.get("keys") {
                diagnostics.append(wrong_key_provider(block, &keys.expression));
            }
        }
    }
    for ((kind, _), part) in &block.key_providers {
        if let Some(schema) = key_provider_schema(kind) {
            let (content, problems) = part.body.content(&schema);
            diagnostics.append(problems);
            if let Some(chain) = content.get("chain") {
                diagnostics.append(wrong_key_provider(block, &chain.expression));
            }
        }
    }
    diagnostics.append(in_clear(block));
}

/// Checks the method that a target names. It may be one with errors.
fn wrong_method(block: &EncryptionBlock, target: &EncryptionTarget) -> Option<Diagnostic> {
    match block.has_unread_parts {
        true => method_name(target).err(),
        false => method_of(block, target).err(),
    }
}

/// Checks the key provider that a method names.
fn wrong_key_provider(block: &EncryptionBlock, expression: &Expression) -> Option<Diagnostic> {
    match KeyArgument::read(expression) {
        Err(problem) => Some(problem),
        Ok(_) if block.has_unread_parts => None,
        Ok(argument) => argument.names().iter().find_map(|(key, span)| key_provider_of(block, key, *span).err()),
    }
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
