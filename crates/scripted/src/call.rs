//! A record of provider calls (LC-33).

use std::fmt;

use groma_value::{Kind, Value};

/// An operation of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// Validate the provider configuration.
    ValidateProvider,
    /// Configure the provider.
    Configure,
    /// Validate the configuration of a resource, a data source, an ephemeral resource, an action or a list block.
    Validate,
    /// Upgrade a stored object or identity.
    Upgrade,
    /// Read a managed object.
    Read,
    /// Plan a change of a managed object.
    Plan,
    /// Apply a planned change.
    Apply,
    /// Import an existing object.
    Import,
    /// Convert an object of another type.
    Move,
    /// Read a data source.
    ReadData,
    /// Open an ephemeral resource.
    Open,
    /// Renew an ephemeral resource.
    Renew,
    /// Close an ephemeral resource.
    Close,
    /// Plan an action.
    PlanAction,
    /// Invoke an action.
    Invoke,
    /// List objects of a type.
    List,
    /// Generate the configuration of an object.
    GenerateConfig,
    /// Cancel running operations.
    Stop,
}

impl Operation {
    /// Returns the name in call records.
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

/// A recorded call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The operation that was called.
    pub operation: Operation,
    /// The type that the call concerns; empty for the provider itself.
    pub type_name: String,
    /// The name of the object, if known: its `name` attribute, or else its `id`.
    pub object: String,
}

/// Formats as `plan test_object web`.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [self.operation.as_str(), &self.type_name, &self.object];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        f.write_str(&words.join(" "))
    }
}

/// Returns the name of an object: the first `name` in `values`, or else the first `id`.
pub(crate) fn name_of(values: &[&Value]) -> String {
    let attribute = |name: &str| {
        values.iter().find_map(|value| match value.kind() {
            Kind::Object(object) => object.get(name).and_then(Value::as_str).map(str::to_owned),
            _ => None,
        })
    };
    attribute("name").or_else(|| attribute("id")).unwrap_or_default()
}
