//! The settings of the backend `s3`, checked and converted for the client.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_cloud::Secret;
use groma_cloud::aws::{
    Addressing, AssumeRole, AwsClient, AwsKeys, AwsSettings, IpStack, MetadataService, Partition, WebIdentityRole,
    WebIdentityToken,
};
use groma_cloud::http::{ConnectionSettings, TlsVerification};
use md5::{Digest, Md5};

use super::errors::client_error;
use crate::error::StoreError;
use crate::host::Host;
use crate::schema::{Origin, Settings};

/// The first path element of the states of all workspaces but the default one.
pub(super) const DEFAULT_PREFIX: &str = "env:";

/// The server-side encryption of objects.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum S3Encryption {
    /// The bucket's own setting.
    OfBucket,
    /// Keys that S3 manages.
    Aes256,
    /// A key of AWS KMS, by ID, alias or ARN.
    Kms(String),
    /// A key that each request carries.
    Customer { key: Secret, digest: String },
}

impl S3Encryption {
    fn new(settings: &Settings) -> Result<Self, StoreError> {
        let (kms, customer) = (settings.text("kms_key_id"), settings.text("sse_customer_key"));
        if let (Some(_), Some(_)) = (kms, customer) {
            let other = match settings.origin("sse_customer_key") {
                Origin::Environment(variable) => format!("the environment variable {variable}"),
                _ => "\"sse_customer_key\"".to_owned(),
            };
            let reason = format!("it excludes {other}, because an object has one encryption key; set one of them only");
            return Err(invalid("kms_key_id", reason));
        }
        let customer = customer.map(Self::customer).transpose()?;
        // As in Terraform and OpenTofu, the keys have no effect without "encrypt".
        if !settings.flag("encrypt") {
            return Ok(Self::OfBucket);
        }
        Ok(match (customer, kms) {
            (Some(customer), _) => customer,
            (None, Some(key)) => Self::Kms(key.to_owned()),
            (None, None) => Self::Aes256,
        })
    }

    fn customer(text: &str) -> Result<Self, StoreError> {
        let key = STANDARD.decode(text).ok().filter(|key| key.len() == 32);
        let key = key.ok_or_else(|| invalid("sse_customer_key", "it must be 32 bytes in Base64 (44 characters)"))?;
        Ok(Self::Customer { key: Secret::new(text), digest: STANDARD.encode(Md5::digest(key)) })
    }
}

/// The names and options of objects.
pub(super) struct ObjectSettings {
    pub bucket: String,
    pub key: String,
    pub prefix: String,
    pub style: Addressing,
    pub acl: Option<String>,
    pub encryption: S3Encryption,
    /// Whether writes carry a SHA-256 checksum.
    pub checksum: Checksum,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Checksum {
    Sha256,
    /// Some S3-compatible services refuse the headers.
    None,
}

impl ObjectSettings {
    pub fn new(settings: &Settings) -> Result<Self, StoreError> {
        const EDGES: &str = "it must not start or end with \"/\"";
        let key = settings.required("key");
        if key.starts_with('/') || key.ends_with('/') {
            return Err(invalid("key", EDGES));
        }
        if key.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(invalid("key", "it must not contain \"//\" or the path elements \".\" and \"..\""));
        }
        let prefix = match settings.origin("workspace_key_prefix") {
            // An empty string is a setting of its own here, unlike null.
            Origin::Unset if !settings.is_empty_text("workspace_key_prefix") => DEFAULT_PREFIX,
            _ => settings.text("workspace_key_prefix").unwrap_or_default(),
        };
        if prefix.starts_with('/') || prefix.ends_with('/') {
            return Err(invalid("workspace_key_prefix", EDGES));
        }
        let is_path_style = settings.flag("use_path_style") || settings.flag("force_path_style");
        Ok(Self {
            bucket: settings.required("bucket").to_owned(),
            key: key.to_owned(),
            prefix: prefix.to_owned(),
            style: if is_path_style { Addressing::Path } else { Addressing::Automatic },
            acl: acl(settings)?,
            encryption: S3Encryption::new(settings)?,
            checksum: if settings.flag("skip_s3_checksum") { Checksum::None } else { Checksum::Sha256 },
        })
    }
}

fn acl(settings: &Settings) -> Result<Option<String>, StoreError> {
    const CANNED: [&str; 7] = [
        "private",
        "public-read",
        "public-read-write",
        "aws-exec-read",
        "authenticated-read",
        "bucket-owner-read",
        "bucket-owner-full-control",
    ];
    match settings.text("acl") {
        Some(acl) if !CANNED.contains(&acl) => {
            Err(invalid("acl", format!("{acl:?} is not a canned ACL; use one of {}", CANNED.join(", "))))
        }
        acl => Ok(acl.map(str::to_owned)),
    }
}

/// The accounts that may own the credentials.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Accounts {
    pub allowed: Vec<String>,
    pub forbidden: Vec<String>,
}

impl Accounts {
    pub fn new(settings: &Settings) -> Result<Self, StoreError> {
        let accounts =
            Self { allowed: settings.texts("allowed_account_ids"), forbidden: settings.texts("forbidden_account_ids") };
        if !accounts.allowed.is_empty() && !accounts.forbidden.is_empty() {
            return Err(invalid("forbidden_account_ids", "it excludes \"allowed_account_ids\""));
        }
        Ok(accounts)
    }

    pub fn are_restricted(&self) -> bool {
        !self.allowed.is_empty() || !self.forbidden.is_empty()
    }

    pub fn allow(&self, account: &str) -> bool {
        let is_in = |list: &[String]| list.iter().any(|one| one == account);
        if self.allowed.is_empty() { !is_in(&self.forbidden) } else { is_in(&self.allowed) }
    }
}

/// Creates the client of S3 and DynamoDB.
pub(super) fn client(settings: &Settings, host: &Host) -> Result<AwsClient, StoreError> {
    if let Some(mode) = settings.text("retry_mode").filter(|mode| !["standard", "adaptive"].contains(mode)) {
        return Err(invalid("retry_mode", format!("it must be \"standard\" or \"adaptive\", not {mode:?}")));
    }
    let region = settings.text("region");
    if let Some(region) = region
        && !settings.flag("skip_region_validation")
        && !is_region(region)
    {
        let reason = format!(
            "{region:?} is not a region of AWS, such as \"eu-central-1\"; for the region of another service, set \
             \"skip_region_validation\" to true"
        );
        return Err(invalid("region", reason));
    }
    // A larger number saturates: no run lives for so many attempts.
    let retries = u32::try_from(settings.number("max_retries").unwrap_or(5)).unwrap_or(u32::MAX);
    let optional = |name: &str| settings.text(name).map(str::to_owned);
    let paths = |name: &str| -> Vec<PathBuf> {
        settings.texts(name).iter().map(|path| host.environment.for_clouds().expand_home(path)).collect()
    };
    let mut credentials_files = paths("shared_credentials_files");
    credentials_files
        .extend(optional("shared_credentials_file").map(|path| host.environment.for_clouds().expand_home(&path)));
    let flag = |name: &str| settings.is_set(name).then(|| settings.flag(name));
    let cloud = AwsSettings {
        keys: keys(settings)?,
        profile: optional("profile"),
        region: optional("region"),
        config_files: paths("shared_config_files"),
        credentials_files,
        web_identity_role: web_identity_role(settings)?,
        roles: role(settings)?.into_iter().collect(),
        endpoints: endpoints(settings),
        sts_region: optional("sts_region"),
        stack: IpStack { fips: flag("use_fips_endpoint"), dual_stack: flag("use_dualstack_endpoint") },
        metadata: MetadataService {
            enabled: flag("skip_metadata_api_check").map(|skip| !skip),
            endpoint: optional("ec2_metadata_service_endpoint"),
            endpoint_mode: optional("ec2_metadata_service_endpoint_mode"),
        },
        connection: ConnectionSettings {
            http_proxy: optional("http_proxy"),
            https_proxy: optional("https_proxy"),
            no_proxy: optional("no_proxy"),
            ca_bundle: settings.text("custom_ca_bundle").map(|path| host.environment.for_clouds().expand_home(path)),
            tls_verification: match settings.flag("insecure") {
                true => TlsVerification::Disabled,
                false => TlsVerification::Enabled,
            },
            ..ConnectionSettings::default()
        },
        attempts: Some(retries.saturating_add(1)),
        user_agent: Vec::new(),
        environment: host.environment.for_clouds(),
    };
    AwsClient::new(cloud).map_err(|problem| client_error(&problem))
}

fn is_region(region: &str) -> bool {
    let is_name = region.split('-').count() >= 3
        && region.ends_with(|last: char| last.is_ascii_digit())
        && region.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    // Every partition but that of most regions has prefixes of its own.
    const PREFIXES: [&str; 9] = ["af", "ap", "ca", "eu", "il", "me", "mx", "sa", "us"];
    let is_public = PREFIXES.contains(&region.split('-').next().unwrap_or_default());
    is_name && (is_public || Partition::of_region(region).id != "aws")
}

fn keys(settings: &Settings) -> Result<Option<AwsKeys>, StoreError> {
    let session = settings.text("token").map(str::to_owned);
    match (settings.text("access_key"), settings.text("secret_key")) {
        (Some(id), Some(secret)) => Ok(Some(AwsKeys::new(id, secret, session))),
        (None, None) => Ok(None),
        (Some(_), None) => Err(invalid("secret_key", "it is required with \"access_key\"")),
        (None, Some(_)) => Err(invalid("access_key", "it is required with \"secret_key\"")),
    }
}

fn role(settings: &Settings) -> Result<Option<AssumeRole>, StoreError> {
    let flat = settings.text("role_arn");
    let Some(object) = settings.object("assume_role") else {
        return Ok(flat.map(|arn| AssumeRole {
            role_arn: arn.to_owned(),
            session_name: settings.text("session_name").map(str::to_owned),
            external_id: settings.text("external_id").map(str::to_owned),
            duration: settings.number("assume_role_duration_seconds").map(Duration::from_secs),
            policy: settings.text("assume_role_policy").map(str::to_owned),
            policy_arns: settings.texts("assume_role_policy_arns"),
            tags: settings.map("assume_role_tags").into_iter().collect(),
            transitive_tag_keys: settings.texts("assume_role_transitive_tag_keys"),
            source_identity: None,
        }));
    };
    if flat.is_some() {
        return Err(invalid("role_arn", "it excludes \"assume_role\"; move the value into that object"));
    }
    Ok(Some(AssumeRole {
        role_arn: object.required("role_arn").to_owned(),
        session_name: object.text("session_name").map(str::to_owned),
        external_id: object.text("external_id").map(str::to_owned),
        duration: duration(object, "assume_role.duration")?,
        policy: object.text("policy").map(str::to_owned),
        policy_arns: object.texts("policy_arns"),
        tags: object.map("tags").into_iter().collect(),
        transitive_tag_keys: object.texts("transitive_tag_keys"),
        source_identity: object.text("source_identity").map(str::to_owned),
    }))
}

fn web_identity_role(settings: &Settings) -> Result<Option<WebIdentityRole>, StoreError> {
    let Some(object) = settings.object("assume_role_with_web_identity") else { return Ok(None) };
    let token = match (object.text("web_identity_token"), object.text("web_identity_token_file")) {
        (Some(_), Some(_)) => {
            let argument = "assume_role_with_web_identity.web_identity_token";
            return Err(invalid(argument, "it excludes \"web_identity_token_file\""));
        }
        (Some(token), None) => WebIdentityToken::Inline(Secret::new(token)),
        (None, Some(path)) => WebIdentityToken::File(PathBuf::from(path)),
        (None, None) => WebIdentityToken::Environment,
    };
    Ok(Some(WebIdentityRole {
        role_arn: object.text("role_arn").map(str::to_owned),
        token,
        session_name: object.text("session_name").map(str::to_owned),
        duration: duration(object, "assume_role_with_web_identity.duration")?,
        policy: object.text("policy").map(str::to_owned),
        policy_arns: object.texts("policy_arns"),
    }))
}

fn endpoints(settings: &Settings) -> BTreeMap<String, String> {
    let object = settings.object("endpoints");
    let names = [("s3", "endpoint"), ("dynamodb", "dynamodb_endpoint"), ("sts", "sts_endpoint")];
    let mut endpoints = BTreeMap::new();
    for (name, flat) in names {
        // The variables of AWS precede the deprecated ones, which the client does not know.
        let flat = settings.text(flat).filter(|_| settings.origin(flat) == Origin::Configuration);
        if let Some(url) = object.and_then(|object| object.text(name)).or(flat) {
            endpoints.insert(name.to_owned(), url.to_owned());
        }
    }
    if let Some(url) = object.and_then(|object| object.text("sso")) {
        endpoints.insert("sso".to_owned(), url.to_owned());
    }
    endpoints
}

/// Returns the variables of the deprecated endpoints, under the names that the client reads.
pub(super) fn renamed_endpoint_variables(settings: &Settings) -> Vec<(&'static str, String)> {
    let names = [
        ("AWS_ENDPOINT_URL_S3", "endpoint"),
        ("AWS_ENDPOINT_URL_DYNAMODB", "dynamodb_endpoint"),
        ("AWS_ENDPOINT_URL_STS", "sts_endpoint"),
    ];
    let from_environment = |flat: &str| matches!(settings.origin(flat), Origin::Environment(_));
    let renamed = names.into_iter().filter(|(_, flat)| from_environment(flat));
    renamed.filter_map(|(variable, flat)| Some((variable, settings.text(flat)?.to_owned()))).collect()
}

/// Reads a session duration in Go's form, such as `1h30m`.
fn duration(object: &Settings, argument: &str) -> Result<Option<Duration>, StoreError> {
    let name = argument.rsplit('.').next().unwrap_or_default();
    let Some(text) = object.text(name) else { return Ok(None) };
    match AssumeRole::parse_duration(text) {
        Some(duration) => Ok(Some(duration)),
        None => Err(invalid(argument, format!("{text:?} is not a duration between \"15m\" and \"12h\""))),
    }
}

fn invalid(argument: &str, reason: impl Into<String>) -> StoreError {
    StoreError::InvalidArgument { argument: argument.to_owned(), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_of_all_partitions_are_known_by_their_form() {
        for region in ["eu-central-1", "us-gov-west-1", "cn-north-1", "us-iso-east-1", "eusc-de-east-1"] {
            assert!(is_region(region), "{region}");
        }
        for region in ["auto", "eu-central", "EU-west-1", "fr-par-1", ""] {
            assert!(!is_region(region), "{region}");
        }
    }

    #[test]
    fn accounts_are_allowed_by_one_list_or_refused_by_the_other() {
        let list = |account: &str| vec![account.to_owned()];
        let allowed = Accounts { allowed: list("1"), ..Accounts::default() };
        assert!(allowed.allow("1") && !allowed.allow("2"));
        let forbidden = Accounts { forbidden: list("1"), ..Accounts::default() };
        assert!(!forbidden.allow("1") && forbidden.allow("2"));
        assert!(Accounts::default().allow("1") && !Accounts::default().are_restricted());
    }
}
