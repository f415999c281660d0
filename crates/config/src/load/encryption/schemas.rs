//! Schemas of the key providers and methods in an `encryption` block.

use groma_encryption::service_arguments;
use groma_hcl::BodySchema;

use super::services::schema_of;

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
