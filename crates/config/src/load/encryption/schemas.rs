//! Schemas of the parts of an `encryption` block.

use groma_encryption::service_arguments;
use groma_hcl::BodySchema;

use super::services::schema_of;

/// The method that does not seal.
pub(super) const UNENCRYPTED: &str = "unencrypted";

/// The name under which a key provider keeps its notes in files, instead of its own.
pub(super) const ALIAS: &str = "encrypted_metadata_alias";

/// Returns the schema of an existing method.
pub(super) fn method_schema(kind: &str) -> Option<BodySchema> {
    match kind {
        UNENCRYPTED => Some(BodySchema::new()),
        "aes_gcm" => Some(BodySchema::new().required("keys").optional("aad")),
        "external" => Some(BodySchema::new().required("encrypt_command").required("decrypt_command").optional("keys")),
        _ => None,
    }
}

/// Returns the schema of an existing key provider.
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

/// The arguments of a service.
fn service_schema(kind: &str) -> Option<BodySchema> {
    service_arguments(kind).map(schema_of)
}
