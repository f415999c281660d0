//! From the provider block to the settings of the AWS client (CC-48).

use std::path::PathBuf;

use groma_cloud::Environment;
use groma_cloud::aws::{AssumeRole, AwsKeys, AwsSettings, MetadataService, WebIdentityRole, WebIdentityToken};
use groma_cloud::http::{ConnectionSettings, TlsVerification};
use groma_framework::ProviderDiagnostic;

use super::arguments::Arguments;
use super::region::REGION;

/// The keys of `endpoints`, and the names of these services in the settings of the client. Endpoints of IAM are
/// accepted as well; no request goes there.
const ENDPOINTS: [(&str, &str); 3] = [("cloudcontrolapi", "cloudcontrol"), ("sso", "sso"), ("sts", "sts")];

/// Returns the settings of the client. What the block leaves open comes from the environment and the shared files.
pub(super) fn aws_settings(block: &Arguments, environment: Environment) -> Result<AwsSettings, ProviderDiagnostic> {
    let keys = match (block.text("access_key"), block.text("secret_key")) {
        (Some(id), Some(secret)) => Some(AwsKeys::new(id, secret, block.text("token"))),
        (None, None) => None,
        (Some(_), None) => return Err(incomplete("access_key", "secret_key")),
        (None, Some(_)) => return Err(incomplete("secret_key", "access_key")),
    };
    let paths = |name: &str| block.texts(name).into_iter().map(PathBuf::from).collect();
    let endpoints = block.object("endpoints");
    let endpoint = |(name, service): (&str, &str)| Some((service.to_owned(), endpoints.as_ref()?.text(name)?));
    // The second name is a misspelling of awscc, which old configurations contain.
    let skips_metadata = block.flag("skip_metadata_api_check").or_else(|| block.flag("skip_medatadata_api_check"));
    Ok(AwsSettings {
        keys,
        profile: block.text("profile"),
        region: block.text(REGION),
        config_files: paths("shared_config_files"),
        credentials_files: paths("shared_credentials_files"),
        web_identity_role: block.object("assume_role_with_web_identity").map(|role| web_identity(&role)).transpose()?,
        roles: block.object("assume_role").map(|role| assume_role(&role)).transpose()?.into_iter().collect(),
        endpoints: ENDPOINTS.into_iter().filter_map(endpoint).collect(),
        metadata: MetadataService {
            // False leaves the decision to AWS_EC2_METADATA_DISABLED.
            enabled: skips_metadata.filter(|skips| *skips).map(|_| false),
            ..Default::default()
        },
        connection: ConnectionSettings {
            http_proxy: block.text("http_proxy"),
            https_proxy: block.text("https_proxy"),
            no_proxy: block.text("no_proxy"),
            tls_verification: match block.flag("insecure") {
                Some(true) => TlsVerification::Disabled,
                _ => TlsVerification::Enabled,
            },
            ..ConnectionSettings::default()
        },
        // The first attempt is no retry.
        attempts: block.number("max_retries").and_then(|retries| u32::try_from(retries).ok()?.checked_add(1)),
        user_agent: user_agent(block, &environment),
        environment,
        ..AwsSettings::default()
    })
}

fn incomplete(given: &str, missing: &str) -> ProviderDiagnostic {
    ProviderDiagnostic::error(
        "Incomplete Static Credentials",
        format!("The provider block has {given} without {missing}. Set both, or none of them to use another source."),
    )
}

/// Returns the products of `user_agent`, then `TF_APPEND_USER_AGENT`.
fn user_agent(block: &Arguments, environment: &Environment) -> Vec<String> {
    let product = |product: Arguments| {
        let version = product.text("product_version").map_or_else(String::new, |version| format!("/{version}"));
        let comment = product.text("comment").map_or_else(String::new, |comment| format!(" ({comment})"));
        Some(format!("{}{version}{comment}", product.text("product_name")?))
    };
    let products = block.objects("user_agent").into_iter().filter_map(product);
    products.chain(environment.get("TF_APPEND_USER_AGENT").map(str::to_owned)).collect()
}

fn assume_role(role: &Arguments) -> Result<AssumeRole, ProviderDiagnostic> {
    let role_arn = role.text("role_arn").ok_or_else(|| {
        ProviderDiagnostic::error(
            "Missing Role",
            "assume_role has no role_arn. Set it to the ARN of the role to assume.",
        )
    })?;
    Ok(AssumeRole {
        role_arn,
        session_name: role.text("session_name"),
        external_id: role.text("external_id"),
        duration: duration(role)?,
        policy: role.text("policy"),
        policy_arns: role.texts("policy_arns"),
        tags: role.map("tags"),
        transitive_tag_keys: role.texts("transitive_tag_keys"),
        source_identity: None,
    })
}

fn web_identity(role: &Arguments) -> Result<WebIdentityRole, ProviderDiagnostic> {
    let token = match (role.text("web_identity_token"), role.text("web_identity_token_file")) {
        (Some(_), Some(_)) => {
            return Err(ProviderDiagnostic::error(
                "Conflicting Web Identity Tokens",
                "assume_role_with_web_identity has both web_identity_token and web_identity_token_file. Remove one of them.",
            ));
        }
        (Some(token), None) => WebIdentityToken::Inline(token.into()),
        (None, Some(path)) => WebIdentityToken::File(path.into()),
        (None, None) => WebIdentityToken::Environment,
    };
    Ok(WebIdentityRole {
        role_arn: role.text("role_arn"),
        token,
        session_name: role.text("session_name"),
        duration: duration(role)?,
        policy: role.text("policy"),
        policy_arns: role.texts("policy_arns"),
    })
}

fn duration(role: &Arguments) -> Result<Option<std::time::Duration>, ProviderDiagnostic> {
    let Some(text) = role.text("duration") else { return Ok(None) };
    AssumeRole::parse_duration(&text).map(Some).ok_or_else(|| {
        ProviderDiagnostic::error(
            "Invalid Session Duration",
            format!("The duration {text:?} of the role is not between 15m and 12h. Set it to a value such as \"1h\" or \"1h30m\"."),
        )
    })
}
