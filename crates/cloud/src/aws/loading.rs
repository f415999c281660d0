//! Loading of credentials and settings through the official chain of AWS.

use aws_config::imds::client::error::ImdsError;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::provider::error::CredentialsError;
use aws_runtime::env_config::file::{EnvConfigFileKind, EnvConfigFiles};
use aws_runtime::env_config::section::EnvConfigSections;
use aws_sdk_sts::config::IdentityCache;
use aws_sdk_sts::error::ProvideErrorMetadata;
use aws_sdk_sts::operation::assume_role::AssumeRoleError;
use aws_sdk_sts::operation::assume_role_with_web_identity::AssumeRoleWithWebIdentityError;
use aws_types::os_shim_internal::{Env, Fs};
use aws_types::service_config::ServiceConfigKey;

use super::connector::Connector;
use super::credentials::Cached;
use super::endpoint::Variant;
use super::error::{AwsError, CredentialsProblem};
use super::roles::{RoleProvider, TokenSource, WebIdentityProvider};
use super::service::AwsService;
use super::settings::{AssumeRole, AwsSettings, WebIdentityRole, WebIdentityToken, with_scheme};
use crate::environment::Environment;
use crate::http::Transport;

/// The result of loading.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) region: Option<String>,
    pub(super) variant: Variant,
    pub(super) keys: Cached,
    sdk: SdkConfig,
}

impl Loaded {
    /// Loads the shared configuration files and prepares the sources of credentials. Asks the metadata service for the
    /// region if nothing else names one.
    pub(super) async fn load(settings: &AwsSettings, transport: &Transport) -> Result<Self, AwsError> {
        let environment = settings.chain_environment();
        let env = Env::from(environment.variables().clone());
        let files = profile_files(settings);
        // The SDK reads the same files again; they are parsed here first to check the selected profile.
        let sections = shared_config(&env, &files).await?;
        let selected = selected_profile(settings, &environment, &sections)?;
        let mut loader = aws_config::defaults(BehaviorVersion::latest())
            .env(env)
            .http_client(Connector::new(transport.clone()))
            .profile_files(files);
        if let Some(region) = &settings.region {
            loader = loader.region(Region::new(region.clone()));
        }
        if let Some(profile) = &selected {
            loader = loader.profile_name(profile);
        }
        if let Some(fips) = settings.stack.fips {
            loader = loader.use_fips(fips);
        }
        if let Some(dual_stack) = settings.stack.dual_stack {
            loader = loader.use_dual_stack(dual_stack);
        }
        let sdk = loader.load().await;
        // The SDK merges the settings with the variables and the profile, so its result counts and not that of the
        // settings.
        let variant =
            Variant { fips: sdk.use_fips().unwrap_or_default(), dual_stack: sdk.use_dual_stack().unwrap_or_default() };
        let region = sdk.region().map(ToString::to_string);
        let keys = keys(settings, &environment, &sdk, &sections, selected.as_deref())?;
        Ok(Self { region, variant, keys, sdk })
    }

    /// Returns the endpoint of a service in the environment or the shared configuration file:
    /// `AWS_ENDPOINT_URL_SERVICE`, `AWS_ENDPOINT_URL`, the `services` section of the profile, its `endpoint_url`.
    pub(super) fn configured_endpoint(&self, service: AwsService) -> Option<String> {
        let name = service.settings_key();
        let key = ServiceConfigKey::builder().service_id(&name).env("AWS_ENDPOINT_URL").profile("endpoint_url").build();
        self.sdk.service_config()?.load_config(key.ok()?).filter(|url| !url.is_empty())
    }
}

/// Returns the sources of keys that the settings name, the roles to assume included.
fn keys(
    settings: &AwsSettings,
    environment: &Environment,
    sdk: &SdkConfig,
    sections: &EnvConfigSections,
    profile: Option<&str>,
) -> Result<Cached, AwsError> {
    let from_environment = profile.and_then(|profile| environment_roles(sections, profile));
    let (mut keys, inherited) = match (&settings.keys, &settings.web_identity_role) {
        // Static keys of the settings precede every other source, roles with web identity included.
        (Some(keys), _) => (Cached::new(keys.credentials("settings")), Vec::new()),
        (None, Some(role)) => (Cached::new(web_identity(settings, environment, sdk, role)?), Vec::new()),
        (None, None) => match (from_environment, settings.environment.clone()) {
            // The chain would take the keys of the environment themselves, because they precede profiles there.
            (Some(roles), variables) if settings.profile.is_some() => {
                let found = environment_keys(&variables).ok_or_else(|| AwsError::Credentials {
                    reason: "the profile has credential_source = Environment, and AWS_ACCESS_KEY_ID and \
                             AWS_SECRET_ACCESS_KEY are not set"
                        .to_owned(),
                })?;
                (Cached::new(found.credentials("environment")), roles)
            }
            _ => {
                let provider = sdk.credentials_provider().ok_or(AwsError::MissingCredentials(tried(settings)))?;
                (Cached::new(provider), Vec::new())
            }
        },
    };
    // Each role is assumed with the keys of the one before: the chain of `assume_role` blocks in their order.
    for role in inherited.iter().chain(&settings.roles) {
        keys = Cached::new(RoleProvider { sts: sts_client(settings, sdk, Some(&keys)), role: role.clone() });
    }
    Ok(keys)
}

fn environment_keys(environment: &Environment) -> Option<super::AwsKeys> {
    let (id, secret) = (environment.get("AWS_ACCESS_KEY_ID")?, environment.get("AWS_SECRET_ACCESS_KEY")?);
    Some(super::AwsKeys::new(id, secret, environment.get("AWS_SESSION_TOKEN").map(str::to_owned)))
}

/// Returns the roles from `profile` back to a `credential_source = Environment`, the first to assume first.
fn environment_roles(sections: &EnvConfigSections, profile: &str) -> Option<Vec<AssumeRole>> {
    let mut roles = Vec::new();
    let mut name = profile.to_owned();
    // A chain longer than the number of profiles is a cycle, which the chain of AWS reports.
    for _ in 0..=sections.profiles().count() {
        let section = sections.get_profile(&name)?;
        let text = |key: &str| section.get(key).map(str::to_owned);
        let seconds = section.get("duration_seconds").and_then(|seconds| seconds.parse().ok());
        roles.push(AssumeRole {
            role_arn: text("role_arn")?,
            session_name: text("role_session_name"),
            external_id: text("external_id"),
            duration: seconds.map(std::time::Duration::from_secs),
            ..AssumeRole::default()
        });
        if section.get("credential_source").is_some_and(|source| source.eq_ignore_ascii_case("environment")) {
            // The search started at the last role; the first to assume is the one next to the environment's keys.
            roles.reverse();
            return Some(roles);
        }
        name = text("source_profile")?;
    }
    None
}

fn web_identity(
    settings: &AwsSettings,
    environment: &Environment,
    sdk: &SdkConfig,
    role: &WebIdentityRole,
) -> Result<WebIdentityProvider, AwsError> {
    let variable = |name: &str| environment.get(name).map(str::to_owned);
    let missing = |what: &str| AwsError::Setting(format!("assume_role_with_web_identity has no {what}"));
    let token = match &role.token {
        WebIdentityToken::Inline(token) => TokenSource::Inline(token.clone()),
        WebIdentityToken::File(path) => TokenSource::File(path.clone()),
        WebIdentityToken::Environment => {
            match (variable("AWS_WEB_IDENTITY_TOKEN"), variable("AWS_WEB_IDENTITY_TOKEN_FILE")) {
                // The SDK knows only the variable that names a file.
                (Some(token), _) => TokenSource::Inline(token.into()),
                (None, Some(path)) => TokenSource::File(path.into()),
                (None, None) => {
                    return Err(missing(
                        "token; set web_identity_token, web_identity_token_file or AWS_WEB_IDENTITY_TOKEN_FILE",
                    ));
                }
            }
        }
    };
    let role_arn = role.role_arn.clone().or_else(|| variable("AWS_ROLE_ARN"));
    Ok(WebIdentityProvider {
        sts: sts_client(settings, sdk, None),
        // Checked now instead of by STS, whose answer would name no argument.
        role_arn: role_arn.ok_or_else(|| missing("role_arn"))?,
        token,
        session_name: role.session_name.clone().or_else(|| variable("AWS_ROLE_SESSION_NAME")),
        duration: role.duration,
        policy: role.policy.clone(),
        policy_arns: role.policy_arns.clone(),
    })
}

/// Creates a client of STS that signs with `keys`.
fn sts_client(settings: &AwsSettings, sdk: &SdkConfig, keys: Option<&Cached>) -> aws_sdk_sts::Client {
    // `Cached` renews keys itself; a second cache would keep those that `Cached` has dropped.
    let mut builder = sdk.to_builder().identity_cache(IdentityCache::no_cache());
    builder.set_credentials_provider(keys.cloned().map(aws_credential_types::provider::SharedCredentialsProvider::new));
    if let Some(region) = settings.sts_region.as_ref().or(settings.region.as_ref()) {
        builder = builder.region(Region::new(region.clone()));
    // STS needs a region for its endpoint even where nothing else does.
    } else if sdk.region().is_none() {
        builder = builder.region(Region::from_static("us-east-1"));
    }
    let mut config = aws_sdk_sts::config::Builder::from(&builder.build());
    if let Some(url) = settings.endpoint(AwsService::STS) {
        config = config.endpoint_url(with_scheme(url));
    }
    aws_sdk_sts::Client::from_conf(config.build())
}

fn profile_files(settings: &AwsSettings) -> EnvConfigFiles {
    let kinds = [
        (EnvConfigFileKind::Config, &settings.config_files),
        (EnvConfigFileKind::Credentials, &settings.credentials_files),
    ];
    let mut builder = EnvConfigFiles::builder()
        .include_default_config_file(settings.config_files.is_empty())
        .include_default_credentials_file(settings.credentials_files.is_empty());
    for (kind, files) in kinds {
        for file in files {
            let path = settings.environment.expand_home(&file.to_string_lossy());
            // Missing files count as empty, as in the SDK that Terraform's providers use.
            if path.exists() {
                builder = builder.with_file(kind, path);
            }
        }
    }
    // The builder requires a value even if there is no file.
    builder.with_contents(EnvConfigFileKind::Config, "").build()
}

async fn shared_config(env: &Env, files: &EnvConfigFiles) -> Result<EnvConfigSections, AwsError> {
    let unusable = |error: &(dyn std::error::Error + 'static)| AwsError::SharedConfig(with_causes(error));
    // A file that cannot be read or parsed is an error of its own, not a reason to call credentials missing.
    let source = aws_runtime::env_config::source::load(env, &Fs::real(), files).await;
    EnvConfigSections::parse(source.map_err(|error| unusable(&error))?).map_err(|error| unusable(&error))
}

/// Returns the profile that the settings or `AWS_PROFILE` select, which must exist.
fn selected_profile(
    settings: &AwsSettings,
    environment: &Environment,
    sections: &EnvConfigSections,
) -> Result<Option<String>, AwsError> {
    let named = settings.profile.as_deref().or_else(|| environment.get("AWS_PROFILE"));
    let Some(profile) = named else { return Ok(None) };
    let Some(section) = sections.get_profile(profile) else {
        // Keys of the environment make a wrong AWS_PROFILE harmless, as in the AWS CLI.
        if settings.keys.is_some() || environment_keys(environment).is_some() {
            return Ok(None);
        }
        let mut existing: Vec<&str> = sections.profiles().collect();
        existing.sort_unstable();
        return Err(AwsError::MissingProfile {
            profile: profile.to_owned(),
            files: file_names(settings),
            existing: if existing.is_empty() { "(there are none)".to_owned() } else { existing.join(", ") },
        });
    };
    // Reported before the request, because STS would refuse it without mentioning MFA.
    if section.get("mfa_serial").is_some() && settings.keys.is_none() && environment_keys(environment).is_none() {
        return Err(AwsError::MfaRequired { profile: profile.to_owned() });
    }
    Ok(Some(profile.to_owned()))
}

fn file_names(settings: &AwsSettings) -> String {
    let name = |files: &[std::path::PathBuf], variable: &str, default: &str| -> Vec<String> {
        if files.is_empty() {
            return vec![settings.environment.get(variable).unwrap_or(default).to_owned()];
        }
        files.iter().map(|file| file.display().to_string()).collect()
    };
    let config = name(&settings.config_files, "AWS_CONFIG_FILE", "~/.aws/config");
    let credentials = name(&settings.credentials_files, "AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials");
    [config, credentials].concat().join(" and ")
}

/// Explains a failure of the credential chain.
pub(super) fn explained(settings: &AwsSettings, error: &CredentialsError) -> AwsError {
    let mut problem = tried(settings);
    // The metadata service is the last source and configured nowhere. Where it refuses, nobody has chosen a source that
    // could be called broken.
    if settings.profile.is_none()
        && let Some(refusal) = metadata_refusal(error)
    {
        problem.sources.pop();
        problem.sources.push(format!("instance metadata (EC2): {refusal}"));
        return AwsError::MissingCredentials(problem);
    }
    match error {
        CredentialsError::CredentialsNotLoaded(_) => AwsError::MissingCredentials(problem),
        _ => AwsError::Credentials { reason: with_causes(error) },
    }
}

/// Returns the answer of the instance metadata service, if it is the reason of an error.
fn metadata_refusal(error: &CredentialsError) -> Option<String> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<ImdsError>() {
            return Some(with_causes(error));
        }
        cause = error.source();
    }
    None
}

/// Describes the sources of the chain and what each of them lacks.
fn tried(settings: &AwsSettings) -> CredentialsProblem {
    let environment = &settings.environment;
    let lacking = |names: &[&str]| {
        let missing: Vec<&str> = names.iter().copied().filter(|name| environment.get(name).is_none()).collect();
        if missing.is_empty() { "no usable keys".to_owned() } else { format!("{} not set", missing.join(" and ")) }
    };
    let mut sources = vec!["settings: access_key and secret_key not set".to_owned()];
    if settings.profile.is_none() {
        sources.push(format!("environment: {}", lacking(&["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])));
    }
    let profile = settings.profile.as_deref().or_else(|| environment.get("AWS_PROFILE")).unwrap_or("default");
    sources.push(format!("profile {profile:?} in {}: no credentials", file_names(settings)));
    sources.push(format!("web identity: {}", lacking(&["AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"])));
    let container = ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"];
    sources.push(match environment.first(&container) {
        Some(_) => "container (ECS, EKS): no credentials".to_owned(),
        None => format!("container (ECS, EKS): neither {} nor {} is set", container[0], container[1]),
    });
    let disabled = environment.get("AWS_EC2_METADATA_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    sources.push(match settings.metadata.enabled {
        Some(false) => "instance metadata (EC2): switched off in the settings".to_owned(),
        None if disabled => "instance metadata (EC2): switched off by AWS_EC2_METADATA_DISABLED".to_owned(),
        _ => "instance metadata (EC2): not reachable, or the instance has no role".to_owned(),
    });
    CredentialsProblem { sources }
}

/// Joins the messages of an error and its causes, without the repetitions that SDK errors have.
fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut messages: Vec<String> = Vec::new();
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        let denied = error.downcast_ref::<AssumeRoleError>().map(ProvideErrorMetadata::meta);
        let denied =
            denied.or_else(|| error.downcast_ref::<AssumeRoleWithWebIdentityError>().map(ProvideErrorMetadata::meta));
        // The response of STS is the complete error. Its causes repeat the same text in the SDK's debug format.
        if let Some((code, message)) = denied.and_then(|meta| meta.code().zip(meta.message())) {
            messages.push(format!("AWS STS refuses the role: {code}: {message}"));
            break;
        }
        messages.push(error.to_string());
        cause = error.source();
    }
    // Only the last messages describe the case; those before name the layers of the SDK.
    let kept = messages.len().saturating_sub(2);
    messages.split_off(kept).join(": ")
}
