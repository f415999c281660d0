//! The arguments of the backend `cos`.

use std::sync::LazyLock;

use groma_cloud::Secret;
use groma_cloud::tencent::{TencentCredentials, TencentRole, TencentSettings};
use groma_value::Type;

use crate::error::StoreError;
use crate::host::Host;
use crate::schema::{Argument, BackendSchema, Nesting, Product, Settings};
use crate::stores::token_errors::token_error;

/// Returns the argument schema.
pub(super) fn schema() -> &'static BackendSchema {
    static SCHEMA: LazyLock<BackendSchema> = LazyLock::new(|| {
        let text = |name, environment| Argument::optional(name, Type::String).env(environment);
        let ours = |argument: Argument| argument.only(Product::Terraform);
        let role = [
            Argument::required("role_arn", Type::String).env(&["TENCENTCLOUD_ASSUME_ROLE_ARN"]),
            Argument::required("session_name", Type::String).env(&["TENCENTCLOUD_ASSUME_ROLE_SESSION_NAME"]),
            Argument::optional("session_duration", Type::Number)
                .env(&["TENCENTCLOUD_ASSUME_ROLE_SESSION_DURATION"])
                .default("7200"),
            text("policy", &[]),
            ours(text("external_id", &[])),
        ];
        BackendSchema::new([
            Argument::required("bucket", Type::String),
            Argument::required("region", Type::String).env(&["TENCENTCLOUD_REGION"]),
            text("prefix", &[]),
            text("key", &[]).default("terraform.tfstate"),
            Argument::optional("encrypt", Type::Bool).default("true"),
            text("acl", &[]).default("private"),
            Argument::optional("accelerate", Type::Bool),
            text("secret_id", &["TENCENTCLOUD_SECRET_ID"]),
            text("secret_key", &["TENCENTCLOUD_SECRET_KEY"]).sensitive(),
            text("security_token", &["TENCENTCLOUD_SECURITY_TOKEN"]).sensitive(),
            ours(text("endpoint", &["TENCENTCLOUD_ENDPOINT"])),
            ours(text("domain", &["TENCENTCLOUD_DOMAIN"]).default("tencentcloudapi.com")),
            ours(text("cam_role_name", &["TENCENTCLOUD_CAM_ROLE_NAME"])),
            ours(text("shared_credentials_dir", &["TENCENTCLOUD_SHARED_CREDENTIALS_DIR"])),
            ours(text("profile", &["TENCENTCLOUD_PROFILE"])),
            Argument::block("assume_role", Nesting::Set, role),
        ])
    });
    &SCHEMA
}

/// The addresses of the services.
pub(super) struct Addresses {
    pub bucket: String,
    /// The host of the tag API.
    pub tag: String,
}

impl Addresses {
    pub fn new(settings: &Settings) -> Self {
        let bucket = settings.required("bucket");
        let endpoint = if settings.flag("accelerate") { "accelerate" } else { settings.required("region") };
        let bucket = match settings.text("endpoint") {
            Some(url) if url.contains("://") => url.trim_end_matches('/').to_owned(),
            Some(host) => format!("https://{host}"),
            None => format!("https://{bucket}.cos.{endpoint}.myqcloud.com"),
        };
        let domain = settings.text("domain").unwrap_or("tencentcloudapi.com");
        let tag = match domain.split_once("://") {
            Some(_) => domain.trim_end_matches('/').to_owned(),
            None => format!("tag.{domain}"),
        };
        Self { bucket, tag }
    }
}

/// Creates the credentials of Tencent Cloud that the arguments select.
pub(super) fn credentials(settings: &Settings, host: &Host) -> Result<TencentCredentials, StoreError> {
    let text = |name| settings.text(name).map(str::to_owned);
    let secret = |name| settings.text(name).map(Secret::new);
    let role = settings.object("assume_role").map(|role| TencentRole {
        arn: role.required("role_arn").to_owned(),
        session_name: role.required("session_name").to_owned(),
        duration: role.number("session_duration").unwrap_or(7200),
        policy: role.text("policy").map(str::to_owned),
        external_id: role.text("external_id").map(str::to_owned),
    });
    TencentCredentials::new(TencentSettings {
        secret_id: text("secret_id"),
        secret_key: secret("secret_key"),
        security_token: secret("security_token"),
        cam_role: text("cam_role_name"),
        profiles: text("shared_credentials_dir"),
        profile: text("profile"),
        role,
        region: settings.required("region").to_owned(),
        domain: settings.text("domain").unwrap_or("tencentcloudapi.com").to_owned(),
        environment: host.environment.for_clouds(),
    })
    .map_err(|problem| token_error("Tencent Cloud", &problem))
}
