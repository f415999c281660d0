//! The arguments of the backend `gcs`.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_cloud::Secret;
use groma_cloud::google::{GoogleCredentials, GoogleSettings};
use groma_value::Type;
use sha2::{Digest, Sha256};

use crate::error::StoreError;
use crate::host::Host;
use crate::schema::{Argument, BackendSchema, Product, Settings};
use crate::stores::token_errors::token_error;

const SCOPE: &str = "https://www.googleapis.com/auth/devstorage.read_write";

/// Returns the argument schema.
pub(super) fn schema() -> &'static BackendSchema {
    static SCHEMA: LazyLock<BackendSchema> = LazyLock::new(|| {
        let text = |name| Argument::optional(name, Type::String);
        BackendSchema::new([
            Argument::required("bucket", Type::String),
            text("prefix"),
            text("credentials").env(&["GOOGLE_BACKEND_CREDENTIALS", "GOOGLE_CREDENTIALS"]).sensitive(),
            text("access_token").env(&["GOOGLE_OAUTH_ACCESS_TOKEN"]).sensitive(),
            text("impersonate_service_account")
                .env(&["GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT", "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT"]),
            Argument::optional("impersonate_service_account_delegates", Type::list(Type::String)),
            text("encryption_key").env(&["GOOGLE_ENCRYPTION_KEY"]).sensitive(),
            text("kms_encryption_key").env(&["GOOGLE_KMS_ENCRYPTION_KEY"]),
            text("storage_custom_endpoint")
                .env(&["GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT", "GOOGLE_STORAGE_CUSTOM_ENDPOINT"]),
            text("universe_domain").env(&["GOOGLE_BACKEND_UNIVERSE_DOMAIN"]).only(Product::OpenTofu),
        ])
    });
    &SCHEMA
}

/// The encryption of states. Lock objects are never encrypted with these keys, as with Terraform and OpenTofu.
pub(super) enum GcsEncryption {
    /// The bucket's own setting.
    OfBucket,
    /// A key of Cloud KMS, by its resource name.
    Kms(String),
    /// A key that each request carries, in Base64, with the Base64 of its SHA-256 digest.
    Customer { key: Secret, digest: String },
}

impl GcsEncryption {
    pub fn new(settings: &Settings, host: &Host) -> Result<Self, StoreError> {
        match (settings.text("encryption_key"), settings.text("kms_encryption_key")) {
            (Some(_), Some(_)) => {
                Err(invalid("kms_encryption_key", "it excludes \"encryption_key\"; set one of them only"))
            }
            (None, Some(name)) => Ok(Self::Kms(name.to_owned())),
            (None, None) => Ok(Self::OfBucket),
            (Some(given), None) => {
                // A path or the key itself, as with Terraform and OpenTofu.
                let content = std::fs::read_to_string(host.environment.for_clouds().expand_home(given));
                let text = content.unwrap_or_else(|_| given.to_owned());
                let key = STANDARD.decode(text.trim()).ok().filter(|key| key.len() == 32);
                let key = key.ok_or_else(|| {
                    invalid("encryption_key", "it must be 32 bytes in Base64, or the path of a file with them")
                })?;
                Ok(Self::Customer {
                    key: Secret::new(STANDARD.encode(&key)),
                    digest: STANDARD.encode(Sha256::digest(&key)),
                })
            }
        }
    }
}

/// The address of the service, without the path of the API.
pub(super) fn base_url(settings: &Settings, host: &Host) -> String {
    if let Some(url) = settings.text("storage_custom_endpoint") {
        let url = url.trim_end_matches('/');
        // Endpoints for Terraform contain the path of the API, with or without the buckets.
        let url = url.strip_suffix("/b").unwrap_or(url);
        return url.strip_suffix("/storage/v1").unwrap_or(url).to_owned();
    }
    if let Some(emulator) = emulator(host) {
        let url = if emulator.contains("://") { emulator } else { format!("http://{emulator}") };
        return url.trim_end_matches('/').to_owned();
    }
    format!("https://storage.{}", settings.text("universe_domain").unwrap_or("googleapis.com"))
}

/// Returns the address of an emulator, to which the libraries of Google send requests without credentials.
pub(super) fn emulator(host: &Host) -> Option<String> {
    host.environment.get("STORAGE_EMULATOR_HOST")
}

/// Creates the credentials of Google Cloud that the arguments and the environment select.
pub(super) fn credentials(settings: &Settings, host: &Host) -> Result<GoogleCredentials, StoreError> {
    let secret = |name| settings.text(name).map(Secret::new);
    GoogleCredentials::new(GoogleSettings {
        credentials: secret("credentials"),
        access_token: secret("access_token"),
        impersonate_service_account: settings.text("impersonate_service_account").map(str::to_owned),
        delegates: settings.texts("impersonate_service_account_delegates"),
        scopes: vec![SCOPE.to_owned()],
        environment: host.environment.for_clouds(),
        ..GoogleSettings::default()
    })
    .map_err(|problem| token_error("Google Cloud", &problem))
}

/// Returns the folder of the objects: empty, or with a slash at its end.
pub(super) fn folder(settings: &Settings) -> String {
    match settings.required("prefix").trim_matches('/') {
        "" => String::new(),
        prefix => format!("{prefix}/"),
    }
}

fn invalid(argument: &str, reason: &str) -> StoreError {
    StoreError::InvalidArgument { argument: argument.to_owned(), reason: reason.to_owned() }
}
