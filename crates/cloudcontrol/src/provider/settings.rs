//! The provider's own configuration (CC-48): the arguments of the existing provider, and `emulator`.

use std::path::PathBuf;
use std::time::Duration;

use groma_framework::schema::validator;
use groma_framework::{Attribute, ObjectNesting, ResourceSchema, SchemaBuilder};
use groma_value::{Type, Value};

use super::tags::TagSettings;

/// The file an emulator keeps its objects in, unless `path` says otherwise: in the current directory.
pub const EMULATOR_FILE: &str = "groma-emulator.json";
const DEFAULT_REGION: &str = "us-east-1";
const DEFAULT_RETRIES: u64 = 25;

/// The schema of the provider block.
pub fn schema() -> ResourceSchema {
    let attributes = [
        ("access_key", text("The access key of the account.")),
        ("secret_key", text("The secret key of the account.").sensitive()),
        ("token", text("The session token of temporary credentials.").sensitive()),
        ("profile", text("The profile of the shared configuration files.")),
        ("region", text("The region objects are in.")),
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
                            .validator(validator("must be a number with a unit", check_delay)),
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

/// A configuration that can be worked with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The region objects are in.
    pub region: String,
    /// The role that the service assumes.
    pub role_arn: Option<String>,
    /// Maximal number of retries of a throttled call.
    pub max_retries: u64,
    /// The tags of all objects, and the tags to ignore.
    pub tags: TagSettings,
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

/// Reads `500ms`, `2s` or `1m`.
pub fn duration(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let number: u64 = digits.parse().ok()?;
    match text.get(digits.len()..)? {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => number.checked_mul(60).map(Duration::from_secs),
        _ => None,
    }
}

fn check_delay(delay: &Value) -> Result<(), String> {
    match delay.as_str().is_none_or(|text| duration(text).is_some()) {
        true => Ok(()),
        false => Err("The delay must be a number with a unit: 500ms, 2s or 1m.".to_owned()),
    }
}

impl Settings {
    /// Reads a configuration; what it leaves open comes from the environment, as in every AWS tool.
    pub fn of(config: &Value, environment: impl Fn(&str) -> Option<String>) -> Self {
        let text = |name: &str| attribute(config, name).and_then(|value| value.as_str().map(str::to_owned));
        let from_environment = || environment("AWS_REGION").or_else(|| environment("AWS_DEFAULT_REGION"));
        let emulator = attribute(config, "emulator").filter(|emulator| !emulator.is_null() && emulator.is_known());
        Self {
            region: text("region").or_else(from_environment).unwrap_or_else(|| DEFAULT_REGION.to_owned()),
            role_arn: text("role_arn"),
            max_retries: attribute(config, "max_retries")
                .and_then(|value| value.as_number().and_then(groma_value::Number::to_u64))
                .unwrap_or(DEFAULT_RETRIES),
            tags: TagSettings::of(config),
            emulator: emulator.map(|emulator| {
                let text = |name: &str| attribute(&emulator, name).and_then(|value| value.as_str().map(str::to_owned));
                EmulatorSettings {
                    path: text("path").map_or_else(|| EMULATOR_FILE.into(), PathBuf::from),
                    delay: text("delay").and_then(|delay| duration(&delay)).unwrap_or_default(),
                }
            }),
        }
    }
}

fn attribute(object: &Value, name: &str) -> Option<Value> {
    object.as_object().and_then(|view| view.get(name)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(duration("2s"), Some(Duration::from_secs(2)));
        assert_eq!(duration("1m"), Some(Duration::from_secs(60)));
        for wrong in ["", "s", "5", "5h", "-5s", "5 s", "é"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn cc_48_the_environment_says_what_the_configuration_leaves_open() {
        let config = schema().block().empty_value().clone();
        let with = |name: &'static str| move |asked: &str| (asked == name).then(|| "eu-north-1".to_owned());
        assert_eq!(Settings::of(&config, with("AWS_REGION")).region, "eu-north-1");
        assert_eq!(Settings::of(&config, with("AWS_DEFAULT_REGION")).region, "eu-north-1");
        assert_eq!(Settings::of(&config, with("OTHER")).region, "us-east-1");
        assert_eq!(Settings::of(&config, with("OTHER")).emulator, None);
    }
}
