//! The record of what was asked (LC-33).

use std::fmt;

use groma_value::{Kind, Value};

/// What a provider can be asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// Check its configuration.
    ValidateProvider,
    /// Take its configuration into use.
    Configure,
    /// Check a configuration of a resource, a data source or an ephemeral resource.
    Validate,
    /// Bring a stored object to today's shape.
    Upgrade,
    /// Read an object.
    Read,
    /// Plan a change.
    Plan,
    /// Make a change.
    Apply,
    /// Find an object to take over.
    Import,
    /// Take over an object of another type.
    Move,
    /// Read a data source.
    ReadData,
    /// Open an ephemeral resource.
    Open,
    /// Keep an ephemeral resource open.
    Renew,
    /// Close an ephemeral resource.
    Close,
    /// Say what an action will do.
    PlanAction,
    /// Have an action done.
    Invoke,
    /// Search for objects.
    List,
    /// Write a configuration for an object.
    GenerateConfig,
    /// End soon.
    Stop,
}

impl Operation {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ValidateProvider => "validate-provider",
            Self::Configure => "configure",
            Self::Validate => "validate",
            Self::Upgrade => "upgrade",
            Self::Read => "read",
            Self::Plan => "plan",
            Self::Apply => "apply",
            Self::Import => "import",
            Self::Move => "move",
            Self::ReadData => "read-data",
            Self::Open => "open",
            Self::Renew => "renew",
            Self::Close => "close",
            Self::PlanAction => "plan-action",
            Self::Invoke => "invoke",
            Self::List => "list",
            Self::GenerateConfig => "generate-config",
            Self::Stop => "stop",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// What was asked.
    pub operation: Operation,
    /// The type it was about; empty when it was about the provider.
    pub type_name: String,
    /// Which object, as far as can be told: its `name`, or else its `id`.
    pub object: String,
}

/// `plan test_object web`
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [self.operation.as_str(), &self.type_name, &self.object];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        f.write_str(&words.join(" "))
    }
}

/// What to call an object by: the first of these values that has a `name` or an `id`.
pub(crate) fn name_of(values: &[&Value]) -> String {
    let attribute = |name: &str| {
        values.iter().find_map(|value| match value.kind() {
            Kind::Object(object) => object.get(name).and_then(Value::as_str).map(str::to_owned),
            _ => None,
        })
    };
    attribute("name").or_else(|| attribute("id")).unwrap_or_default()
}
