//! The arguments of the backend `oss`.

use std::net::IpAddr;
use std::sync::LazyLock;

use groma_cloud::Secret;
use groma_cloud::alibaba::{AlibabaCredentials, AlibabaRole, AlibabaSettings};
use groma_value::Type;

use crate::error::StoreError;
use crate::host::Host;
use crate::schema::{Argument, BackendSchema, Nesting, Product, Settings};
use crate::stores::token_errors::token_error;

/// Returns the argument schema.
pub(super) fn schema() -> &'static BackendSchema {
    static SCHEMA: LazyLock<BackendSchema> = LazyLock::new(|| {
        let text = |name, environment| Argument::optional(name, Type::String).env(environment);
        let role = [
            Argument::required("role_arn", Type::String).env(&["ALICLOUD_ASSUME_ROLE_ARN", "ALIBABA_CLOUD_ROLE_ARN"]),
            text("session_name", &["ALICLOUD_ASSUME_ROLE_SESSION_NAME", "ALIBABA_CLOUD_ROLE_SESSION_NAME"]),
            text("policy", &[]),
            Argument::optional("session_expiration", Type::Number).env(&["ALICLOUD_ASSUME_ROLE_SESSION_EXPIRATION"]),
        ];
        let storage = [
            Argument::required("bucket", Type::String),
            text("prefix", &[]).default("env:"),
            text("key", &[]).default("terraform.tfstate"),
            Argument::optional("encrypt", Type::Bool).default("false"),
            text("acl", &[]),
            text("endpoint", &["ALICLOUD_OSS_ENDPOINT", "OSS_ENDPOINT", "ALIBABA_CLOUD_OSS_ENDPOINT"]),
            text("tablestore_table", &[]),
            text("tablestore_endpoint", &["ALICLOUD_TABLESTORE_ENDPOINT", "ALIBABA_CLOUD_TABLESTORE_ENDPOINT"]),
            text("tablestore_instance_name", &[]).only(Product::Terraform),
        ];
        let identity = [
            text("access_key", &["ALICLOUD_ACCESS_KEY", "ALICLOUD_ACCESS_KEY_ID", "ALIBABA_CLOUD_ACCESS_KEY_ID"]),
            text(
                "secret_key",
                &["ALICLOUD_SECRET_KEY", "ALICLOUD_ACCESS_KEY_SECRET", "ALIBABA_CLOUD_ACCESS_KEY_SECRET"],
            )
            .sensitive(),
            text("security_token", &["ALICLOUD_SECURITY_TOKEN", "ALIBABA_CLOUD_SECURITY_TOKEN"]).sensitive(),
            text("ecs_role_name", &["ALICLOUD_ECS_ROLE_NAME", "ALIBABA_CLOUD_ECS_METADATA"]),
            text("region", &["ALICLOUD_REGION", "ALICLOUD_DEFAULT_REGION", "ALIBABA_CLOUD_REGION"]),
            text("sts_endpoint", &["ALICLOUD_STS_ENDPOINT", "ALIBABA_CLOUD_STS_ENDPOINT"]),
            text("profile", &["ALICLOUD_PROFILE", "ALIBABA_CLOUD_PROFILE"]),
            text("shared_credentials_file", &["ALICLOUD_SHARED_CREDENTIALS_FILE", "ALIBABA_CLOUD_CREDENTIALS_FILE"]),
            text("assume_role_role_arn", &["ALICLOUD_ASSUME_ROLE_ARN", "ALIBABA_CLOUD_ROLE_ARN"]),
            text("assume_role_session_name", &["ALICLOUD_ASSUME_ROLE_SESSION_NAME", "ALIBABA_CLOUD_ROLE_SESSION_NAME"]),
            text("assume_role_policy", &[]),
            Argument::optional("assume_role_session_expiration", Type::Number)
                .env(&["ALICLOUD_ASSUME_ROLE_SESSION_EXPIRATION"]),
            Argument::block("assume_role", Nesting::Set, role)
                .deprecated("Use assume_role_role_arn and the other arguments that begin with assume_role_ instead."),
        ];
        BackendSchema::new(storage.into_iter().chain(identity))
    });
    &SCHEMA
}

/// The names of the objects of states.
pub(super) struct Names {
    pub prefix: String,
    pub key: String,
}

impl Names {
    pub fn new(settings: &Settings) -> Result<Self, StoreError> {
        let (prefix, key) = (settings.required("prefix"), settings.required("key"));
        if prefix.starts_with('/') || prefix.starts_with("./") {
            return Err(invalid("prefix", format!("{prefix:?} must not begin with \"/\" or \"./\"")));
        }
        if key.starts_with('/') || key.ends_with('/') {
            return Err(invalid("key", format!("{key:?} must not begin or end with \"/\"")));
        }
        Ok(Self { prefix: prefix.trim_matches('/').to_owned(), key: key.to_owned() })
    }
}

/// Returns the access control of objects.
pub(super) fn acl(settings: &Settings) -> Result<Option<String>, StoreError> {
    match settings.text("acl").filter(|acl| !acl.is_empty()) {
        Some(acl) if !["private", "public-read", "public-read-write"].contains(&acl) => Err(invalid(
            "acl",
            format!("it must be \"private\", \"public-read\" or \"public-read-write\", not {acl:?}"),
        )),
        acl => Ok(acl.map(str::to_owned)),
    }
}

/// Returns the URL of the bucket.
pub(super) fn bucket_url(settings: &Settings, credentials: &AlibabaCredentials) -> Result<String, StoreError> {
    let endpoint = match (settings.text("endpoint"), credentials.region()) {
        (Some(endpoint), _) => endpoint.to_owned(),
        (None, Some(region)) => format!("oss-{region}.aliyuncs.com"),
        (None, None) => {
            return Err(invalid(
                "region",
                "it is not set; set region, ALICLOUD_REGION, region_id in the profile, or endpoint".to_owned(),
            ));
        }
    };
    let (scheme, host) = with_scheme(&endpoint);
    let bucket = settings.required("bucket");
    // The bucket is part of the host name, unless the host is an IP address.
    let address = host.rsplit_once(':').map_or(host, |(address, _)| address);
    Ok(match address.parse::<IpAddr>() {
        Ok(_) => format!("{scheme}://{host}/{bucket}"),
        Err(_) => format!("{scheme}://{bucket}.{host}"),
    })
}

/// The address of Tablestore.
pub(super) struct Instance {
    pub endpoint: String,
    pub name: String,
}

impl Instance {
    pub fn new(settings: &Settings) -> Result<Self, StoreError> {
        let Some(endpoint) = settings.text("tablestore_endpoint").filter(|endpoint| !endpoint.is_empty()) else {
            return Err(invalid(
                "tablestore_endpoint",
                "it is required with \"tablestore_table\"; set it or ALICLOUD_TABLESTORE_ENDPOINT to \
                 https://INSTANCE.REGION.ots.aliyuncs.com"
                    .to_owned(),
            ));
        };
        let (scheme, host) = with_scheme(endpoint);
        // The host is INSTANCE.REGION.ots.aliyuncs.com, so its first label names the instance.
        let first = host.split('.').next().unwrap_or_default();
        let name = settings.text("tablestore_instance_name").unwrap_or(first).to_owned();
        Ok(Self { endpoint: format!("{scheme}://{host}"), name })
    }
}

fn with_scheme(endpoint: &str) -> (&str, &str) {
    let (scheme, host) = endpoint.split_once("://").unwrap_or(("https", endpoint));
    (scheme, host.trim_end_matches('/'))
}

/// Creates the credentials of Alibaba Cloud that the arguments select.
pub(super) fn credentials(settings: &Settings, host: &Host) -> Result<AlibabaCredentials, StoreError> {
    let text = |name| settings.text(name).map(str::to_owned);
    let secret = |name| settings.text(name).map(Secret::new);
    AlibabaCredentials::new(AlibabaSettings {
        access_key: text("access_key"),
        secret_key: secret("secret_key"),
        security_token: secret("security_token"),
        ecs_role: text("ecs_role_name"),
        profiles: text("shared_credentials_file"),
        profile: text("profile"),
        role: role(settings)?,
        region: text("region"),
        sts_endpoint: text("sts_endpoint"),
        environment: host.environment.for_clouds(),
    })
    .map_err(|problem| token_error("Alibaba Cloud", &problem))
}

fn role(settings: &Settings) -> Result<Option<AlibabaRole>, StoreError> {
    // The flat arguments take precedence: the block is their deprecated form.
    let role = match (settings.text("assume_role_role_arn"), settings.object("assume_role")) {
        (Some(arn), _) => AlibabaRole {
            arn: arn.to_owned(),
            session_name: settings.text("assume_role_session_name").map(str::to_owned),
            policy: settings.text("assume_role_policy").map(str::to_owned),
            duration: settings.number("assume_role_session_expiration"),
        },
        (None, Some(role)) => AlibabaRole {
            arn: role.required("role_arn").to_owned(),
            session_name: role.text("session_name").map(str::to_owned),
            policy: role.text("policy").map(str::to_owned),
            duration: role.number("session_expiration"),
        },
        (None, None) => return Ok(None),
    };
    match role.duration {
        Some(seconds) if !(900..=3600).contains(&seconds) => Err(invalid(
            "assume_role_session_expiration",
            format!("it must be between 900 and 3600 seconds, not {seconds}"),
        )),
        _ => Ok(Some(role)),
    }
}

fn invalid(argument: &str, reason: String) -> StoreError {
    StoreError::InvalidArgument { argument: argument.to_owned(), reason }
}
