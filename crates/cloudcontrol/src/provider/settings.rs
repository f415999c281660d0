//! The provider's own configuration (CC-48): the arguments of the existing provider, and `emulator`.

use std::path::PathBuf;
use std::time::Duration;

use groma_duration::parse_unsigned;
use groma_framework::schema::validator;
use groma_framework::{Attribute, ObjectNesting, ResourceSchema, SchemaBuilder};
use groma_value::{Type, Value};

use super::arguments::Arguments;
use super::connection::Timeouts;
use super::region::REGION;
use super::tags::TagSettings;

/// The file an emulator keeps its objects in, unless `path` says otherwise: in the current directory.
pub const EMULATOR_FILE: &str = "groma-emulator.json";
const DEFAULT_RETRIES: u64 = 25;

/// The arguments that decide which objects the provider reaches: the service or the emulator, the account and the region.
pub const DESTINATION: [&str; 14] = [
    "access_key",
    "secret_key",
    "token",
    "profile",
    REGION,
    "role_arn",
    "shared_config_files",
    "shared_credentials_files",
    "endpoints",
    "assume_role",
    "assume_role_with_web_identity",
    "allowed_account_ids",
    "forbidden_account_ids",
    "emulator",
];

/// The schema of the provider block.
pub fn schema() -> ResourceSchema {
    let attributes = [
        ("access_key", text("The access key of the account.")),
        ("secret_key", text("The secret key of the account.").sensitive()),
        ("token", text("The session token of temporary credentials.").sensitive()),
        ("profile", text("The profile of the shared configuration files.")),
        (REGION, text("The region objects are in.")),
        ("role_arn", text("The service role that Cloud Control acts with.")),
        ("max_retries", optional(Type::Number, "How often a throttled call is repeated.")),
        ("insecure", optional(Type::Bool, "Do not verify TLS certificates.")),
        ("http_proxy", text("The proxy for HTTP.")),
        ("https_proxy", text("The proxy for HTTPS.")),
        ("no_proxy", text("Hosts to reach without a proxy.")),
        ("shared_config_files", optional(Type::list(Type::String), "Shared configuration files.")),
        ("shared_credentials_files", optional(Type::list(Type::String), "Shared credentials files.")),
        ("skip_metadata_api_check", optional(Type::Bool, "Do not ask the instance metadata service.")),
        (
            "skip_medatadata_api_check",
            optional(Type::Bool, "A misspelling of skip_metadata_api_check.")
                .deprecated("Use skip_metadata_api_check instead."),
        ),
        ("user_agent", nested(ObjectNesting::List, user_agent(), "What to add to the user agent.")),
        ("endpoints", nested(ObjectNesting::Single, endpoints(), "Other endpoints of services.")),
        ("assume_role", nested(ObjectNesting::Single, assume_role(), "A role to assume.")),
        (
            "assume_role_with_web_identity",
            nested(ObjectNesting::Single, assume_role_with_web_identity(), "A role to assume with a web identity."),
        ),
        (
            "allowed_account_ids",
            optional(Type::set(Type::String), "The accounts that may be used. AWS STS is asked before the first call."),
        ),
        ("forbidden_account_ids", optional(Type::set(Type::String), "The accounts that must not be used.")),
        (
            "timeouts",
            nested(
                ObjectNesting::Single,
                timeouts(),
                "How long requests may take, instead of the timeouts of the resource types.",
            ),
        ),
        (
            "default_tags",
            nested(
                ObjectNesting::Single,
                vec![(
                    "tags",
                    optional(Type::map(Type::String), "The tags by key; a tag of the resource itself wins."),
                )],
                "Tags that every object gets whose type takes tags.",
            ),
        ),
        (
            "ignore_tags",
            nested(
                ObjectNesting::Single,
                vec![
                    ("keys", optional(Type::set(Type::String), "Keys of tags.")),
                    ("key_prefixes", optional(Type::set(Type::String), "What keys of tags begin with.")),
                ],
                "Tags that others put on objects: they are neither shown nor taken away.",
            ),
        ),
        (
            "emulator",
            nested(
                ObjectNesting::Single,
                vec![
                    ("path", text("The file the emulator keeps its objects in; groma-emulator.json by default.")),
                    (
                        "delay",
                        text("How long the emulator takes for a request, such as 500ms or 2s; nothing by default.")
                            .validator(validator("must be a number with a unit", check_duration)),
                    ),
                ],
                "Work against the emulator of Cloud Control inside this program: no account and no network needed.",
            ),
        ),
    ];
    let schema = attributes.into_iter().fold(SchemaBuilder::new(), |schema, (name, one)| schema.attribute(name, one));
    schema.build().unwrap_or_else(|problems| unreachable!("the declaration above is sound: {problems:?}"))
}

fn optional(ty: Type, description: &str) -> Attribute {
    Attribute::new(ty).described_plainly(description)
}

fn text(description: &str) -> Attribute {
    optional(Type::String, description)
}

fn nested(nesting: ObjectNesting, attributes: Vec<(&'static str, Attribute)>, description: &str) -> Attribute {
    Attribute::nested(nesting, attributes).described_plainly(description)
}

fn user_agent() -> Vec<(&'static str, Attribute)> {
    vec![("product_name", Attribute::string().required()), ("product_version", text("")), ("comment", text(""))]
}

fn endpoints() -> Vec<(&'static str, Attribute)> {
    ["cloudcontrolapi", "iam", "sso", "sts"].into_iter().map(|service| (service, text(""))).collect()
}

fn timeouts() -> Vec<(&'static str, Attribute)> {
    let timeout = |name| (name, text("").validator(validator("must be a number with a unit", check_duration)));
    ["create", "update", "delete"].into_iter().map(timeout).collect()
}

fn assume_role() -> Vec<(&'static str, Attribute)> {
    vec![
        ("role_arn", Attribute::string().required()),
        ("session_name", text("")),
        ("external_id", text("")),
        ("duration", text("")),
        ("policy", text("")),
        ("policy_arns", optional(Type::list(Type::String), "")),
        ("tags", optional(Type::map(Type::String), "")),
        ("transitive_tag_keys", optional(Type::set(Type::String), "")),
    ]
}

fn assume_role_with_web_identity() -> Vec<(&'static str, Attribute)> {
    vec![
        ("role_arn", Attribute::string().required()),
        ("session_name", text("")),
        ("duration", text("")),
        ("policy", text("")),
        ("policy_arns", optional(Type::list(Type::String), "")),
        ("web_identity_token", text("").sensitive()),
        ("web_identity_token_file", text("")),
    ]
}

/// The settings of the provider that do not concern the client of AWS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The region of the block or the environment.
    pub region: Option<String>,
    /// The role that the service assumes.
    pub role_arn: Option<String>,
    /// Maximal number of retries of a throttled call.
    pub max_retries: u64,
    /// The tags of all objects, and the tags to ignore.
    pub tags: TagSettings,
    /// The timeouts of requests.
    pub timeouts: Timeouts,
    /// The emulator; none where the real service is meant.
    pub emulator: Option<EmulatorSettings>,
}

/// The emulator as configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmulatorSettings {
    /// The file of the emulator.
    pub path: PathBuf,
    /// The duration of requests.
    pub delay: Duration,
}

fn check_duration(value: &Value) -> Result<(), String> {
    match value.as_str().is_none_or(|text| parse_unsigned(text).is_some()) {
        true => Ok(()),
        false => Err("The duration must be a number with a unit: 500ms, 2s, 30m or 1h.".to_owned()),
    }
}

impl Settings {
    /// Reads a configuration; what it leaves open comes from the environment, as in every AWS tool.
    pub fn of(config: &Value, environment: impl Fn(&str) -> Option<String>) -> Self {
        let block = Arguments::of(config);
        let from_environment = || environment("AWS_REGION").or_else(|| environment("AWS_DEFAULT_REGION"));
        let timeouts = block.object("timeouts");
        let timeout = |name: &str| parse_unsigned(&timeouts.as_ref()?.text(name)?);
        Self {
            region: block.text(REGION).or_else(from_environment),
            role_arn: block.text("role_arn"),
            max_retries: block.number("max_retries").unwrap_or(DEFAULT_RETRIES),
            tags: TagSettings::of(config),
            timeouts: Timeouts { create: timeout("create"), update: timeout("update"), delete: timeout("delete") },
            emulator: block.object("emulator").map(|emulator| EmulatorSettings {
                path: emulator.text("path").map_or_else(|| EMULATOR_FILE.into(), PathBuf::from),
                delay: emulator.text("delay").and_then(|delay| parse_unsigned(&delay)).unwrap_or_default(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cc_48_the_environment_says_what_the_configuration_leaves_open() {
        let config = schema().block().empty_value().clone();
        let with = |name: &'static str| move |asked: &str| (asked == name).then(|| "eu-north-1".to_owned());
        assert_eq!(Settings::of(&config, with("AWS_REGION")).region.as_deref(), Some("eu-north-1"));
        assert_eq!(Settings::of(&config, with("AWS_DEFAULT_REGION")).region.as_deref(), Some("eu-north-1"));
        assert_eq!(Settings::of(&config, with("OTHER")).region, None);
        assert_eq!(Settings::of(&config, with("OTHER")).emulator, None);
    }
}
