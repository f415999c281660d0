//! Who asks AWS, before any role of the configuration: what is given, the environment, a profile, and where the program runs, in this order.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value as Json;

use super::aws_files::{AwsFiles, AwsProfile};
use super::aws_lender::Lender;
use super::aws_machine;
use super::given::{Given, GivenValue};
use super::network::{AwsKeys, Network, in_home, text};
use super::output::output;

/// How long the program of a profile may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where keys are looked for.
pub(super) struct Chain<'a> {
    pub(super) given: &'a Given,
    pub(super) network: &'a dyn Network,
    pub(super) lender: &'a Lender<'a>,
}

impl Chain<'_> {
    pub(super) fn keys(&self) -> Result<AwsKeys, String> {
        let given = |name: &str| self.given.text(name);
        if let (Some(id), Some(secret)) = (given("access_key"), given("secret_key")) {
            return Ok(AwsKeys { id, secret, session: given("token") });
        }
        let mut named = given("profile");
        if named.is_none() {
            if let Some(keys) = AwsKeys::of_environment(self.network) {
                return Ok(keys);
            }
            let is_set = |name: &str| self.network.variable(name).is_some();
            if is_set("AWS_WEB_IDENTITY_TOKEN_FILE") && is_set("AWS_ROLE_ARN") {
                return self.lender.for_web_identity(&Given::default());
            }
            named = self.network.variable("AWS_PROFILE");
        }
        let files = self.files();
        match named {
            Some(name) => self.of_profile(&files, &name, &[]),
            None if files.profile("default").is_some() => self.of_profile(&files, "default", &[]),
            None => self.of_place(),
        }
    }

    fn files(&self) -> AwsFiles {
        let files = |argument: &str, variables: &[&str], usual: &str| -> Vec<PathBuf> {
            let given = self.given.texts(argument);
            if !given.is_empty() {
                return given.iter().map(|path| in_home(path, self.network)).collect();
            }
            let named = variables.iter().find_map(|name| self.network.variable(name)).map(PathBuf::from);
            named.or_else(|| Some(self.network.home()?.join(".aws").join(usual))).into_iter().collect()
        };
        AwsFiles::read(
            &files("shared_credentials_files", &["AWS_SHARED_CREDENTIALS_FILE"], "credentials"),
            &files("shared_config_files", &["AWS_SHARED_CONFIG_FILE", "AWS_CONFIG_FILE"], "config"),
        )
    }

    /// The keys of a profile: its own, or those of its role. `askers` are the profiles whose roles stand on it.
    fn of_profile(&self, files: &AwsFiles, name: &str, askers: &[&str]) -> Result<AwsKeys, String> {
        let profile = files.profile(name).ok_or_else(|| {
            format!(
                "there is no profile {name:?} in the files of AWS; name one that is there, or set AWS_PROFILE to it"
            )
        })?;
        let wrong = |what: &str| format!("the profile {name:?} of AWS {what}");
        let Some(arn) = profile.value("role_arn") else { return self.without_role(&profile, name) };
        let role = role(arn, &profile);
        if profile.value("web_identity_token_file").is_some() {
            return self.lender.for_web_identity(&role);
        }
        if profile.value("mfa_serial").is_some() {
            return Err(wrong(
                "wants the code of a device (mfa_serial), which nobody is asked for here; take the role on with a tool of AWS, and hand its \
                 keys over in the environment",
            ));
        }
        let keys = match (profile.value("source_profile"), profile.value("credential_source")) {
            (Some(_), Some(_)) => {
                return Err(wrong("has both source_profile and credential_source; only one of them may be there"));
            }
            (Some(source), None) if source == name => {
                profile.keys().ok_or_else(|| wrong("is its own source_profile, and has no keys"))?
            }
            (Some(source), None) if askers.contains(&source) => {
                return Err(wrong(&format!("and {source:?} are each other's source_profile")));
            }
            (Some(source), None) => self.of_profile(files, source, &[askers, &[name]].concat())?,
            (None, Some(source)) => self.of_source(source).map_err(|problem| {
                wrong(&format!("stands on credential_source = {source}, and has no keys: {problem}"))
            })?,
            (None, None) => self.without_role(&profile, name)?,
        };
        self.lender.for_role(&role, &keys)
    }

    /// What `credential_source` names.
    fn of_source(&self, source: &str) -> Result<AwsKeys, String> {
        match source.to_ascii_lowercase().as_str() {
            "environment" => AwsKeys::of_environment(self.network).ok_or_else(|| {
                "the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set".to_owned()
            }),
            "ec2instancemetadata" => aws_machine::of_machine(self.given, self.network),
            "ecscontainer" => aws_machine::of_container(self.network).unwrap_or_else(|| {
                Err("the environment variable AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is not set".to_owned())
            }),
            _ => Err("it is Environment, Ec2InstanceMetadata or EcsContainer".to_owned()),
        }
    }

    fn without_role(&self, profile: &AwsProfile, name: &str) -> Result<AwsKeys, String> {
        if let Some(keys) = profile.keys() {
            return Ok(keys);
        }
        if ["sso_session", "sso_start_url"].iter().any(|key| profile.value(key).is_some()) {
            return Err(format!(
                "the profile {name:?} of AWS logs in by single sign-on, which is not spoken here; hand its keys over with \
                 aws configure export-credentials --profile {name} --format env"
            ));
        }
        match profile.value("credential_process") {
            Some(line) => {
                of_program(line).map_err(|problem| format!("the profile {name:?} of AWS has no keys: {problem}"))
            }
            None => self.of_place(),
        }
    }

    /// The keys of where the program runs.
    fn of_place(&self) -> Result<AwsKeys, String> {
        if let Some(lent) = aws_machine::of_container(self.network) {
            return lent;
        }
        aws_machine::of_machine(self.given, self.network).map_err(|problem| {
            format!(
                "there are no keys of AWS; set the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile of the \
                 shared files that has them ({problem})"
            )
        })
    }
}

/// What a profile says of its role, as the arguments of `assume_role` and `assume_role_with_web_identity` say it.
fn role(arn: &str, profile: &AwsProfile) -> Given {
    let named = [
        ("session_name", "role_session_name"),
        ("external_id", "external_id"),
        ("web_identity_token_file", "web_identity_token_file"),
    ];
    let said = |name: &str, value: &str| (name.to_owned(), GivenValue::Text(value.to_owned()));
    let values = named.iter().filter_map(|(name, key)| Some(said(name, profile.value(key)?)));
    let seconds = profile.value("duration_seconds").map(|seconds| said("duration", &format!("{seconds}s")));
    values.chain(seconds).chain([said("role_arn", arn)]).collect()
}

/// The keys that a program prints. They are not shown, and neither is what else it prints.
fn of_program(line: &str) -> Result<AwsKeys, String> {
    let mut command = if cfg!(windows) { Command::new("cmd.exe") } else { Command::new("sh") };
    command.arg(if cfg!(windows) { "/C" } else { "-c" }).arg(line);
    let told = |problem: String| format!("credential_process: {problem}");
    let printed = output(command, PATIENCE).map_err(told)?;
    let document: Json = serde_json::from_slice(&printed)
        .map_err(|_| told("the program printed something that is no JSON".to_owned()))?;
    if document["Version"] != 1 {
        return Err(told("the program speaks another version than 1".to_owned()));
    }
    let session = document["SessionToken"].as_str().map(str::to_owned);
    let part = |name: &str| text(&document, name).map_err(|_| told(format!("the program printed no {name}")));
    Ok(AwsKeys { id: part("AccessKeyId")?, secret: part("SecretAccessKey")?, session })
}
