//! The arguments of the backend `remote` and of `cloud` blocks.

use std::sync::LazyLock;

use groma_cloud::api::url_encoded;
use groma_value::{Kind, Type, Value};

use crate::error::StoreError;
use crate::host::Host;
use crate::schema::{Argument, BackendSchema, Nesting, Settings};

/// The host of HCP Terraform.
const DEFAULT_HOST: &str = "app.terraform.io";

/// Returns the argument schema of the backend `remote`.
pub(super) fn schema() -> &'static BackendSchema {
    static SCHEMA: LazyLock<BackendSchema> = LazyLock::new(|| {
        let text = |name| Argument::optional(name, Type::String);
        BackendSchema::new([
            text("hostname").default(DEFAULT_HOST),
            Argument::required("organization", Type::String),
            text("token").sensitive(),
            Argument::block("workspaces", Nesting::Single, [text("name"), text("prefix")]),
        ])
    });
    &SCHEMA
}

/// Returns the argument schema of `cloud` blocks.
pub(super) fn cloud_schema() -> &'static BackendSchema {
    static SCHEMA: LazyLock<BackendSchema> = LazyLock::new(|| {
        let text = |name| Argument::optional(name, Type::String);
        let workspaces = [text("name"), text("project"), Argument::optional("tags", Type::Dynamic)];
        BackendSchema::new([
            text("hostname").env(&["TF_CLOUD_HOSTNAME"]).default(DEFAULT_HOST),
            Argument::required_to_connect("organization", Type::String).env(&["TF_CLOUD_ORGANIZATION"]),
            text("token").sensitive(),
            Argument::block("workspaces", Nesting::Single, workspaces),
        ])
    });
    &SCHEMA
}

/// The workspaces of the organization that belong to a configuration, and their names here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// One workspace, which is `default` here.
    Single(String),
    /// All workspaces with this prefix, which is left out here.
    Prefix(String),
    /// One workspace of a `cloud` block, which has the same name here.
    Named(String),
    /// All workspaces with these tags, which have the same names here.
    Tagged(Tags),
}

/// The tags of workspaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tags {
    Names(Vec<String>),
    /// Tags with a key and a value.
    Pairs(Vec<(String, String)>),
}

impl Naming {
    /// Reads the `workspaces` block of a `cloud` block. Without one, `TF_WORKSPACE` names the workspace.
    pub fn of_cloud(settings: &Settings, host: &Host) -> Result<Self, StoreError> {
        let object = settings.object("workspaces");
        let name = object.and_then(|object| object.text("name")).map(str::to_owned);
        let tags = match object.and_then(|object| object.value("tags")) {
            Some(tags) => Some(Tags::new(tags)?),
            None => None,
        };
        match (name, tags) {
            (Some(name), None) => Ok(Self::Named(name)),
            (None, Some(tags)) => Ok(Self::Tagged(tags)),
            (Some(_), Some(_)) => Err(invalid("workspaces", "\"name\" excludes \"tags\"; set one of them")),
            (None, None) => match host.environment.get("TF_WORKSPACE") {
                Some(name) => Ok(Self::Named(name)),
                None => Err(invalid(
                    "workspaces",
                    "in a cloud block it must have \"name\", for one workspace, or \"tags\", for all workspaces that have them; the environment \
                     variable TF_WORKSPACE can name one, too",
                )),
            },
        }
    }

    pub fn new(settings: &Settings) -> Result<Self, StoreError> {
        let object = settings.object("workspaces");
        let name = |name: &str| object.and_then(|object| object.text(name)).map(str::to_owned);
        match (name("name"), name("prefix")) {
            (Some(name), None) => Ok(Self::Single(name)),
            (None, Some(prefix)) => Ok(Self::Prefix(prefix)),
            (Some(_), Some(_)) => Err(invalid("workspaces", "\"name\" excludes \"prefix\"; set one of them")),
            (None, None) => {
                let reason = "it must have \"name\", for one workspace, or \"prefix\", for all workspaces whose names begin with it";
                Err(invalid("workspaces", reason))
            }
        }
    }
}

impl Tags {
    /// Returns the query that finds the workspaces with all of these tags.
    pub fn query(&self) -> String {
        match self {
            Self::Names(names) => format!("search%5Btags%5D={}", url_encoded(&names.join(","))),
            Self::Pairs(pairs) => {
                let part = |(index, (key, value)): (usize, &(String, String))| {
                    let field = |name: &str, text: &str| {
                        format!("filter%5Btagged%5D%5B{index}%5D%5B{name}%5D={}", url_encoded(text))
                    };
                    format!("{}&{}", field("key", key), field("value", value))
                };
                pairs.iter().enumerate().map(part).collect::<Vec<_>>().join("&")
            }
        }
    }

    /// Reads a collection of names, or a map of keys to values.
    fn new(value: &Value) -> Result<Self, StoreError> {
        let unsuitable =
            || invalid("workspaces", "\"tags\" must be a set of strings, or a map of strings, and not empty");
        let entries: Vec<(Value, Value)> = value.elements().collect();
        let text = |value: &Value| value.as_str().map(str::to_owned).ok_or_else(unsuitable);
        if entries.is_empty() {
            return Err(unsuitable());
        }
        match value.kind() {
            Kind::Object(_) | Kind::Map(_) => {
                let pairs = entries.iter().map(|(key, value)| Ok((text(key)?, text(value)?)));
                pairs.collect::<Result<_, _>>().map(Self::Pairs)
            }
            _ => entries.iter().map(|(_, value)| text(value)).collect::<Result<_, _>>().map(Self::Names),
        }
    }
}

fn invalid(argument: &str, reason: &str) -> StoreError {
    StoreError::InvalidArgument { argument: argument.to_owned(), reason: reason.to_owned() }
}
