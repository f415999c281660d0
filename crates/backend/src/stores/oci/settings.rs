//! The arguments of the backend `oci`.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_cloud::Secret;
use groma_cloud::oracle::{OracleAuthentication, OracleCredentials, OracleSettings};
use groma_value::Type;
use sha2::{Digest, Sha256};

use crate::error::StoreError;
use crate::host::Host;
use crate::schema::{Argument, BackendSchema, Settings};
use crate::stores::token_errors::token_error;

/// Returns the argument schema.
pub(super) fn schema() -> &'static BackendSchema {
    static SCHEMA: LazyLock<BackendSchema> = LazyLock::new(|| {
        let text = |name, environment| Argument::optional(name, Type::String).env(environment);
        BackendSchema::new([
            Argument::required("bucket", Type::String),
            Argument::required("namespace", Type::String),
            text("key", &["OCI_key", "key"]).default("terraform.tfstate"),
            text("workspace_key_prefix", &["OCI_workspace_key_prefix", "workspace_key_prefix"]).default("tf-state-env"),
            text("region", &["OCI_region", "region"]),
            text("tenancy_ocid", &["OCI_tenancy_ocid", "tenancy_ocid"]),
            text("user_ocid", &["OCI_user_ocid", "user_ocid"]),
            text("fingerprint", &["OCI_fingerprint", "fingerprint"]),
            text("private_key", &["OCI_private_key", "private_key"]).sensitive(),
            text("private_key_path", &["OCI_private_key_path", "private_key_path"]),
            text("private_key_password", &["OCI_private_key_password", "private_key_password"]).sensitive(),
            text("auth", &["OCI_auth", "auth"]).default("APIKey"),
            text("config_file_profile", &["OCI_config_file_profile", "config_file_profile"]),
            text("kms_key_id", &["OCI_kms_key_id", "kms_key_id"]),
            text("sse_customer_key", &["OCI_sse_customer_key", "sse_customer_key"]).sensitive(),
            text("sse_customer_key_sha256", &["OCI_sse_customer_key_sha256", "sse_customer_key_sha256"]),
            text("sse_customer_algorithm", &["OCI_sse_customer_algorithm", "sse_customer_algorithm"]),
        ])
    });
    &SCHEMA
}

/// The encryption of objects.
pub(super) enum OciEncryption {
    /// The bucket's own setting.
    OfBucket,
    /// A key of the vault, by its OCID.
    Kms(String),
    /// A key that each request carries, in Base64, with the Base64 of its SHA-256 digest.
    Customer { key: Secret, digest: String },
}

impl OciEncryption {
    pub fn new(settings: &Settings) -> Result<Self, StoreError> {
        match (settings.text("kms_key_id"), settings.text("sse_customer_key")) {
            (Some(_), Some(_)) => Err(invalid("kms_key_id", "it excludes \"sse_customer_key\"; set one of them only")),
            (Some(id), None) => Ok(Self::Kms(id.to_owned())),
            (None, None) => Ok(Self::OfBucket),
            (None, Some(text)) => {
                let key = STANDARD.decode(text).ok().filter(|key| key.len() == 32);
                let key = key.ok_or_else(|| invalid("sse_customer_key", "it must be 32 bytes in Base64"))?;
                let digest = STANDARD.encode(Sha256::digest(key));
                if settings.text("sse_customer_key_sha256").is_some_and(|given| given != digest) {
                    return Err(invalid("sse_customer_key_sha256", "it is not the digest of \"sse_customer_key\""));
                }
                if settings.text("sse_customer_algorithm").is_some_and(|name| name != "AES256") {
                    return Err(invalid("sse_customer_algorithm", "it must be \"AES256\""));
                }
                Ok(Self::Customer { key: Secret::new(text), digest })
            }
        }
    }
}

/// Reads the credentials that `auth` selects.
pub(super) fn credentials(settings: &Settings, host: &Host) -> Result<OracleCredentials, StoreError> {
    let text = |name| settings.text(name).map(str::to_owned);
    let authentication = match settings.required("auth").to_ascii_lowercase().as_str() {
        "apikey" | "" => OracleAuthentication::ApiKey,
        "securitytoken" => OracleAuthentication::SecurityToken,
        "resourceprincipal" => OracleAuthentication::ResourcePrincipal,
        "instanceprincipal" | "instanceprincipalwithcerts" | "okeworkloadidentity" => {
            return Err(StoreError::Unsupported {
                operation: format!("auth = {:?} is", settings.required("auth")),
                advice: "Use auth = \"APIKey\", \"SecurityToken\" (oci session authenticate) or \"ResourcePrincipal\"."
                    .to_owned(),
            });
        }
        _ => return Err(invalid("auth", "it must be \"APIKey\", \"SecurityToken\" or \"ResourcePrincipal\"")),
    };
    OracleCredentials::new(&OracleSettings {
        authentication,
        tenancy: text("tenancy_ocid"),
        user: text("user_ocid"),
        fingerprint: text("fingerprint"),
        private_key: settings.text("private_key").map(Secret::new),
        private_key_path: text("private_key_path"),
        region: text("region"),
        profile: text("config_file_profile"),
        environment: host.environment.for_clouds(),
    })
    .map_err(|problem| token_error("Oracle Cloud", &problem))
}

/// Returns the address of Object Storage.
pub(super) fn endpoint(credentials: &OracleCredentials, host: &Host) -> Result<String, StoreError> {
    // The variable of Oracle's own command line.
    if let Some(url) = host.environment.get("OCI_CLI_ENDPOINT") {
        return Ok(url.trim_end_matches('/').to_owned());
    }
    let region = credentials.region().ok_or_else(|| {
        invalid("region", "it is not set; set region, OCI_region, or region in the profile of ~/.oci/config")
    })?;
    Ok(format!("https://objectstorage.{region}.{}", domain(region)))
}

/// Returns the domain of a region: realms for governments have their own.
fn domain(region: &str) -> &'static str {
    match region {
        "us-langley-1" | "us-luke-1" => "oraclegovcloud.com",
        _ if region.starts_with("us-gov-") => "oraclegovcloud.com",
        _ if region.starts_with("uk-gov-") => "oraclegovcloud.uk",
        _ if region.starts_with("eu-dcc-") => "oraclecloud14.com",
        _ => "oraclecloud.com",
    }
}

fn invalid(argument: &str, reason: &str) -> StoreError {
    StoreError::InvalidArgument { argument: argument.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn realms_have_their_own_domains() {
        assert_eq!(domain("eu-frankfurt-1"), "oraclecloud.com");
        assert_eq!(
            (domain("us-gov-ashburn-1"), domain("uk-gov-london-1")),
            ("oraclegovcloud.com", "oraclegovcloud.uk")
        );
    }
}
