//! The AWS credential provider chain: arguments, environment, profile, container, instance, in this order.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value as Json;

use super::arguments::{ArgumentValue, ArgumentValues};
use super::aws_imds;
use super::aws_shared_config::{AwsProfile, AwsSharedConfig};
use super::aws_sts::Sts;
use super::command_output::command_output;
use super::network::{AwsKeys, Network, in_home, string};
use crate::error::KeyError;

/// The time that a `credential_process` may take. It may have to ask a service itself.
const PROCESS_TIMEOUT: Duration = Duration::from_secs(60);

/// The sources of AWS keys, before any `assume_role` of the configuration.
pub(super) struct CredentialChain<'a> {
    pub(super) arguments: &'a ArgumentValues,
    pub(super) network: &'a dyn Network,
    pub(super) sts: &'a Sts<'a>,
}

impl CredentialChain<'_> {
    /// Returns the keys of the first source that is configured. An error of that source is final: later sources could
    /// belong to another account.
    pub(super) fn keys(&self) -> Result<AwsKeys, KeyError> {
        let argument = |name: &str| self.arguments.string(name);
        if let (Some(id), Some(secret)) = (argument("access_key"), argument("secret_key")) {
            return Ok(AwsKeys { id, secret, session: argument("token") });
        }
        let mut profile = argument("profile");
        // A profile in the configuration precedes the environment, AWS_PROFILE does not. That is the order of the AWS SDKs.
        if profile.is_none() {
            if let Some(keys) = AwsKeys::from_environment(self.network) {
                return Ok(keys);
            }
            let is_set = |name: &str| self.network.variable(name).is_some();
            if is_set("AWS_WEB_IDENTITY_TOKEN_FILE") && is_set("AWS_ROLE_ARN") {
                return self.sts.assume_role_with_web_identity(&ArgumentValues::default());
            }
            profile = self.network.variable("AWS_PROFILE");
        }
        let config = self.shared_config();
        match profile {
            Some(name) => self.profile_keys(&config, &name, &[]),
            None if config.profile("default").is_some() => self.profile_keys(&config, "default", &[]),
            None => self.container_or_instance_keys(),
        }
    }

    fn shared_config(&self) -> AwsSharedConfig {
        let files = |argument: &str, variables: &[&str], default: &str| -> Vec<PathBuf> {
            let paths = self.arguments.strings(argument);
            if !paths.is_empty() {
                return paths.iter().map(|path| in_home(path, self.network)).collect();
            }
            let path = variables.iter().find_map(|name| self.network.variable(name)).map(PathBuf::from);
            path.or_else(|| Some(self.network.home()?.join(".aws").join(default))).into_iter().collect()
        };
        AwsSharedConfig::read(
            &files("shared_credentials_files", &["AWS_SHARED_CREDENTIALS_FILE"], "credentials"),
            &files("shared_config_files", &["AWS_SHARED_CONFIG_FILE", "AWS_CONFIG_FILE"], "config"),
        )
    }

    /// Returns the keys of a profile, or those of its role. `dependents` are the profiles whose `source_profile` chain
    /// led here; they detect cycles.
    fn profile_keys(&self, config: &AwsSharedConfig, name: &str, dependents: &[&str]) -> Result<AwsKeys, KeyError> {
        let profile = config.profile(name).ok_or_else(|| {
            KeyError::credentials(format!(
                "the AWS profile {name:?} does not exist in the shared configuration files; set \"profile\" or AWS_PROFILE \
                 to an existing one"
            ))
        })?;
        let invalid = |problem: &str| KeyError::credentials(format!("the AWS profile {name:?} {problem}"));
        let Some(arn) = profile.value("role_arn") else { return self.keys_without_role(&profile, name) };
        let role = role_arguments(arn, &profile);
        if profile.value("web_identity_token_file").is_some() {
            return self.sts.assume_role_with_web_identity(&role);
        }
        if profile.value("mfa_serial").is_some() {
            return Err(invalid(
                "requires an MFA code (mfa_serial), which cannot be entered here; assume the role with the AWS CLI and pass \
                 its keys in environment variables",
            ));
        }
        let keys = match (profile.value("source_profile"), profile.value("credential_source")) {
            (Some(_), Some(_)) => {
                return Err(invalid("has both source_profile and credential_source; remove one of them"));
            }
            // The AWS SDKs allow a profile to be its own source: then its static keys assume the role.
            (Some(source), None) if source == name => {
                profile.keys().ok_or_else(|| invalid("is its own source_profile but has no keys"))?
            }
            (Some(source), None) if dependents.contains(&source) => {
                return Err(invalid(&format!("and {source:?} refer to each other as source_profile")));
            }
            (Some(source), None) => self.profile_keys(config, source, &[dependents, &[name]].concat())?,
            (None, Some(source)) => self.credential_source_keys(source).map_err(|error| {
                error.context(format!("the AWS profile {name:?} has credential_source = {source}, which has no keys"))
            })?,
            (None, None) => self.keys_without_role(&profile, name)?,
        };
        self.sts.assume_role(&role, &keys)
    }

    /// Returns the keys of a `credential_source`.
    fn credential_source_keys(&self, source: &str) -> Result<AwsKeys, KeyError> {
        match source.to_ascii_lowercase().as_str() {
            "environment" => AwsKeys::from_environment(self.network).ok_or_else(|| {
                KeyError::credentials(
                    "the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set",
                )
            }),
            "ec2instancemetadata" => aws_imds::instance_keys(self.arguments, self.network),
            "ecscontainer" => aws_imds::container_keys(self.network).unwrap_or_else(|| {
                Err(KeyError::credentials("the environment variable AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is not set"))
            }),
            _ => Err(KeyError::credentials("valid values are Environment, Ec2InstanceMetadata and EcsContainer")),
        }
    }

    fn keys_without_role(&self, profile: &AwsProfile, name: &str) -> Result<AwsKeys, KeyError> {
        if let Some(keys) = profile.keys() {
            return Ok(keys);
        }
        if ["sso_session", "sso_start_url"].iter().any(|key| profile.value(key).is_some()) {
            return Err(KeyError::credentials(format!(
                "the AWS profile {name:?} uses single sign-on, which is not supported; export its keys to the environment \
                 with: aws configure export-credentials --profile {name} --format env"
            )));
        }
        match profile.value("credential_process") {
            Some(line) => {
                process_keys(line).map_err(|error| error.context(format!("the AWS profile {name:?} has no keys")))
            }
            None => self.container_or_instance_keys(),
        }
    }

    fn container_or_instance_keys(&self) -> Result<AwsKeys, KeyError> {
        if let Some(keys) = aws_imds::container_keys(self.network) {
            return keys;
        }
        aws_imds::instance_keys(self.arguments, self.network).map_err(|error| {
            KeyError::credentials(format!(
                "no AWS credentials found; set the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
                 \"profile\" to a profile that has keys ({error})"
            ))
        })
    }
}

/// Translates the role of a profile into the arguments of `assume_role` and `assume_role_with_web_identity`.
fn role_arguments(arn: &str, profile: &AwsProfile) -> ArgumentValues {
    let keys = [
        ("session_name", "role_session_name"),
        ("external_id", "external_id"),
        ("web_identity_token_file", "web_identity_token_file"),
    ];
    let argument = |name: &str, value: &str| (name.to_owned(), ArgumentValue::String(value.to_owned()));
    let values = keys.iter().filter_map(|(name, key)| Some(argument(name, profile.value(key)?)));
    let duration = profile.value("duration_seconds").map(|seconds| argument("duration", &format!("{seconds}s")));
    values.chain(duration).chain([argument("role_arn", arn)]).collect()
}

/// Returns the keys that a `credential_process` prints. Errors quote nothing of the output, which holds secrets.
fn process_keys(line: &str) -> Result<AwsKeys, KeyError> {
    let mut command = if cfg!(windows) { Command::new("cmd.exe") } else { Command::new("sh") };
    command.arg(if cfg!(windows) { "/C" } else { "-c" }).arg(line);
    let failed = |error: KeyError| error.context("credential_process");
    let invalid = |problem: String| failed(KeyError::response(problem));
    let printed = command_output(command, PROCESS_TIMEOUT).map_err(failed)?;
    let document: Json =
        serde_json::from_slice(&printed).map_err(|_| invalid("the output of the program is not JSON".to_owned()))?;
    if document["Version"] != 1 {
        return Err(invalid("the output of the program does not have \"Version\": 1".to_owned()));
    }
    let session = document["SessionToken"].as_str().map(str::to_owned);
    let field =
        |name: &str| string(&document, name).map_err(|_| invalid(format!("the output of the program has no {name}")));
    Ok(AwsKeys { id: field("AccessKeyId")?, secret: field("SecretAccessKey")?, session })
}
