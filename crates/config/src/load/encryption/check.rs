//! Checks of an `encryption` block that do not depend on the values of its arguments.

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_encryption::service_arguments;
use groma_hcl::{BodySchema, Expression};

use super::names::{KeyArgument, key_provider_of, method_name, method_of};
use super::services::schema_of;
use crate::model::encryption::{EncryptionBlock, EncryptionTarget};

/// Reports invalid references and arguments of all parts, including unused ones.
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

/// Checks the method reference of a target. If a method failed to decode, an undeclared one is not an error.
fn wrong_method(block: &EncryptionBlock, target: &EncryptionTarget) -> Option<Diagnostic> {
    match block.has_unread_parts {
        true => method_name(target).err(),
        false => method_of(block, target).err(),
    }
}

/// Checks the key provider references of an argument. If a key provider failed to decode, an undeclared one is not an
/// error.
fn wrong_key_provider(block: &EncryptionBlock, expression: &Expression) -> Option<Diagnostic> {
    match KeyArgument::read(expression) {
        Err(problem) => Some(problem),
        Ok(_) if block.has_unread_parts => None,
        Ok(argument) => argument.names().iter().find_map(|(key, span)| key_provider_of(block, key, *span).err()),
    }
}

/// Warns if a method stores plain text.
fn in_clear(block: &EncryptionBlock) -> Option<Diagnostic> {
    let (_, part) = block.methods.iter().find(|((kind, _), _)| &**kind == UNENCRYPTED)?;
    Some(
        Diagnostic::warning(
            "Unencrypted method configured",
            "The method \"unencrypted\" stores states or plans as plain text. Use it only while migrating to or from encryption.",
        )
        .at(part.span),
    )
}

/// The method type that stores plain text.
pub(super) const UNENCRYPTED: &str = "unencrypted";

/// Argument of every key provider: the name under which its metadata is stored, instead of its address.
pub(super) const ALIAS: &str = "encrypted_metadata_alias";

/// Returns the schema of a known method type.
pub(super) fn method_schema(kind: &str) -> Option<BodySchema> {
    match kind {
        UNENCRYPTED => Some(BodySchema::new()),
        "aes_gcm" => Some(BodySchema::new().required("keys").optional("aad")),
        "external" => Some(BodySchema::new().required("encrypt_command").required("decrypt_command").optional("keys")),
        _ => None,
    }
}

/// Returns the schema of a known key provider type.
pub(super) fn key_provider_schema(kind: &str) -> Option<BodySchema> {
    let schema = match kind {
        "pbkdf2" => {
            let arguments = ["passphrase", "chain", "key_length", "iterations", "hash_function", "salt_length"];
            arguments.iter().fold(BodySchema::new(), |schema, name| schema.optional(*name))
        }
        "external" => BodySchema::new().required("command"),
        _ => service_schema(kind)?,
    };
    Some(schema.optional(ALIAS))
}

/// Returns the schema of a key management service.
fn service_schema(kind: &str) -> Option<BodySchema> {
    service_arguments(kind).map(schema_of)
}
