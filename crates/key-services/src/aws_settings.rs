//! From the arguments of `aws_kms` to the settings of the AWS client.

use groma_cloud::Environment;
use groma_cloud::aws::{AssumeRole, AwsKeys, AwsSettings, IpStack, MetadataService, WebIdentityRole, WebIdentityToken};
use groma_cloud::http::{ConnectionSettings, TlsVerification};
use groma_encryption::{ArgumentValues, KeyError};

/// Returns the settings of the client.
///
/// # Errors
/// Fails if an argument is invalid: a mistake in the configuration must not wait for the first request.
pub(crate) fn aws_settings(arguments: &ArgumentValues, environment: Environment) -> Result<AwsSettings, KeyError> {
    let text = |name: &str| arguments.string(name);
    let paths = |name: &str| arguments.strings(name).into_iter().map(Into::into).collect();
    let keys = text("access_key").zip(text("secret_key"));
    let mode = text("ec2_metadata_service_endpoint_mode");
    if let Some(mode) = mode.as_ref().filter(|mode| !["IPv4", "IPv6"].contains(&mode.as_str())) {
        return Err(KeyError::Argument(format!(
            "ec2_metadata_service_endpoint_mode must be \"IPv4\" or \"IPv6\", not {mode:?}"
        )));
    }
    let sts = arguments.object("endpoints").and_then(|endpoints| endpoints.string("sts"));
    let bundle = text("custom_ca_bundle");
    let attempts = arguments.number("max_retries").and_then(|retries| u32::try_from(retries).ok()?.checked_add(1));
    Ok(AwsSettings {
        keys: keys.map(|(id, secret)| AwsKeys::new(id, secret, text("token"))),
        profile: text("profile"),
        region: text("region"),
        config_files: paths("shared_config_files"),
        credentials_files: paths("shared_credentials_files"),
        web_identity_role: arguments.object("assume_role_with_web_identity").map(web_identity).transpose()?,
        roles: arguments.object("assume_role").map(assume_role).transpose()?.into_iter().collect(),
        endpoints: sts.map(|url| ("sts".to_owned(), url)).into_iter().collect(),
        sts_region: text("sts_region"),
        stack: IpStack {
            fips: arguments.bool("use_fips_endpoint"),
            dual_stack: arguments.bool("use_dualstack_endpoint"),
        },
        metadata: MetadataService {
            enabled: arguments.bool("skip_metadata_api_check").filter(|skips| *skips).map(|_| false),
            endpoint: text("ec2_metadata_service_endpoint"),
            endpoint_mode: mode,
        },
        connection: ConnectionSettings {
            http_proxy: text("http_proxy"),
            https_proxy: text("https_proxy"),
            no_proxy: text("no_proxy"),
            ca_bundle: bundle.map(|path| environment.expand_home(&path)),
            tls_verification: match arguments.bool("insecure") {
                Some(true) => TlsVerification::Disabled,
                _ => TlsVerification::Enabled,
            },
            ..ConnectionSettings::default()
        },
        attempts,
        environment,
        ..AwsSettings::default()
    })
}

fn assume_role(role: &ArgumentValues) -> Result<AssumeRole, KeyError> {
    Ok(AssumeRole {
        role_arn: role.required_string("role_arn")?,
        session_name: role.string("session_name"),
        external_id: role.string("external_id"),
        duration: duration(role)?,
        policy: role.string("policy"),
        policy_arns: role.strings("policy_arns"),
        tags: role.map("tags"),
        transitive_tag_keys: role.strings("transitive_tag_keys"),
        source_identity: None,
    })
}

fn web_identity(role: &ArgumentValues) -> Result<WebIdentityRole, KeyError> {
    let token = match (role.string("web_identity_token"), role.string("web_identity_token_file")) {
        (Some(_), Some(_)) => {
            return Err(KeyError::Argument(
                "web_identity_token conflicts with web_identity_token_file; set one of them".to_owned(),
            ));
        }
        (Some(token), None) => WebIdentityToken::Inline(token.into()),
        (None, Some(path)) => WebIdentityToken::File(path.into()),
        (None, None) => WebIdentityToken::Environment,
    };
    Ok(WebIdentityRole {
        role_arn: role.string("role_arn"),
        token,
        session_name: role.string("session_name"),
        duration: duration(role)?,
        policy: role.string("policy"),
        policy_arns: role.strings("policy_arns"),
    })
}

fn duration(role: &ArgumentValues) -> Result<Option<std::time::Duration>, KeyError> {
    let Some(text) = role.string("duration") else { return Ok(None) };
    AssumeRole::parse_duration(&text).map(Some).ok_or_else(|| {
        KeyError::Argument(format!("duration must be from 15m to 12h, for example \"1h\" or \"1h30m\", not {text:?}"))
    })
}
