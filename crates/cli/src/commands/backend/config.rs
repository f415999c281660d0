//! A backend type with its configuration: what a block declares, a record stores, and a saved plan carries.

use std::fmt;

use groma_backend::{
    ArgumentError, BackendSchema, BackendType, ConnectError, Product, RemoteBackend, record_hash, registry,
};
use groma_config::Backend as BackendBlock;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_value::{Value, json};
use serde::{Deserialize, Serialize};

use super::super::context::Context;
use super::super::outcome::fail;
use super::local::{self, Local};
use super::{Backend, environment, host};

/// A backend type with its configuration, without environment variables and defaults.
#[derive(Clone)]
pub(in super::super) struct BackendConfig {
    kind: BackendKind,
    /// All arguments of the schema; null where nothing is set.
    config: Value,
}

/// A supported backend type.
#[derive(Clone, Copy)]
pub(in super::super) enum BackendKind {
    Local,
    Remote(&'static BackendType),
}

impl BackendKind {
    /// Returns the type with this name.
    pub fn find(name: &str) -> Option<Self> {
        if name == "local" { Some(Self::Local) } else { registry::find(name).map(Self::Remote) }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Remote(ty) => ty.name,
        }
    }

    pub fn schema(self) -> &'static BackendSchema {
        match self {
            Self::Local => local::schema(),
            Self::Remote(ty) => (ty.schema)(),
        }
    }
}

/// The serialized form: in the record of the working directory, and in saved plans.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in super::super) struct SerializedBackend {
    #[serde(rename = "type")]
    pub kind: String,
    pub config: serde_json::Value,
}

impl fmt::Debug for BackendConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The arguments may be secrets.
        f.debug_tuple("BackendConfig").field(&self.name()).finish()
    }
}

impl PartialEq for BackendConfig {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.config == other.config
    }
}

impl Default for BackendConfig {
    /// The local backend of a configuration without a backend block.
    fn default() -> Self {
        let none: [(&str, Value); 0] = [];
        let empty = Value::object(none);
        Self { kind: BackendKind::Local, config: local::schema().conform(&empty).unwrap_or(empty) }
    }
}

impl BackendConfig {
    /// Creates a configuration from arguments by name.
    ///
    /// # Errors
    /// Arguments that the schema does not have, or of another type.
    pub fn new(kind: BackendKind, arguments: &Value) -> Result<Self, Vec<ArgumentError>> {
        Ok(Self { kind, config: kind.schema().conform(arguments)? })
    }

    /// Reads the serialized form.
    ///
    /// # Errors
    /// The arguments do not fit the schema.
    pub fn deserialize(kind: BackendKind, config: &serde_json::Value) -> Result<Self, Vec<ArgumentError>> {
        Ok(Self { kind, config: kind.schema().from_record(config)? })
    }

    pub fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// Returns the hashes by which Terraform and OpenTofu recognize a block with this configuration.
    pub fn hashes(&self) -> [i64; 2] {
        [Product::Terraform, Product::OpenTofu].map(|product| self.hash(product))
    }

    fn hash(&self, product: Product) -> i64 {
        i64::from(record_hash(self.name(), self.kind.schema(), &self.config, product))
    }

    /// Returns the form in which the working directory records the backend, and the hash of its `block`: those of
    /// Terraform, unless an argument is set that only OpenTofu has.
    pub fn to_record(&self, block: &Self) -> (SerializedBackend, i64) {
        let record = |product| Some((self.kind.schema().to_record(&self.config, product)?, product));
        // Terraform's format is preferred, so that Terraform can continue in this directory.
        let (config, product) = record(Product::Terraform)
            .or_else(|| record(Product::OpenTofu))
            .unwrap_or_else(|| (self.to_json(), Product::Terraform));
        (SerializedBackend { kind: self.name().to_owned(), config }, block.hash(product))
    }

    /// Returns the serialized form with the arguments of both products.
    pub fn serialized(&self) -> SerializedBackend {
        SerializedBackend { kind: self.name().to_owned(), config: self.to_json() }
    }

    fn to_json(&self) -> serde_json::Value {
        let text = json::encode(&self.config).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Returns the names of required arguments without a value in the configuration and in the environment.
    pub fn missing(&self, context: &Context) -> Vec<&'static str> {
        let environment = environment(context);
        let arguments = self.kind.schema().arguments().iter().filter(|argument| argument.is_required());
        let is_missing =
            |name: &str| self.config.attribute(name).is_none_or(|value| value.is_null() || value.as_str() == Some(""));
        arguments
            // An argument may also come from an environment variable of the store, which the record does not contain.
            .filter(|argument| is_missing(argument.name()) && environment.first(argument.environment()).is_none())
            .map(|argument| argument.name())
            .collect()
    }

    /// Describes the arguments that differ in `new`: `path was "a", and is now "b"`. Values of sensitive arguments and URLs
    /// with credentials are left out.
    pub fn difference(&self, new: &Self) -> String {
        if self.name() != new.name() {
            return format!("type was {:?}, and is now {:?}", self.name(), new.name());
        }
        let described = self.kind.schema().arguments().iter().filter_map(|argument| {
            let name = argument.name();
            let [old, new] = [self, new].map(|one| one.config.attribute(name).unwrap_or(Value::NULL));
            if old == new {
                return None;
            }
            // Only strings have a short text form; other changes are reported without their values.
            let is_plain =
                |value: &Value| value.is_null() || value.as_str().is_some_and(|text| !may_have_credentials(text));
            if argument.is_sensitive() || !is_plain(&old) || !is_plain(&new) {
                return Some(format!("{name} has changed"));
            }
            let shown = |value: &Value| value.as_str().map_or_else(|| "not set".to_owned(), |text| format!("{text:?}"));
            Some(format!("{name} was {}, and is now {}", shown(&old), shown(&new)))
        });
        described.collect::<Vec<_>>().join("; ")
    }

    /// Creates the backend. Sends no request yet.
    ///
    /// # Errors
    /// Required arguments are missing, or values are invalid.
    pub fn connect(&self, context: &Context) -> Result<Backend, Diagnostics> {
        match self.kind {
            BackendKind::Local => Ok(Backend::Local(Local::of(&self.config))),
            BackendKind::Remote(ty) => RemoteBackend::connect(ty, self.config.clone(), &host(context))
                .map(Backend::Remote)
                .map_err(|problem| refused(context, self.name(), problem)),
        }
    }
}

impl SerializedBackend {
    /// Reads the serialized form of a saved plan.
    ///
    /// # Errors
    /// The plan names a backend that does not exist here, or arguments that it does not have.
    pub fn read(&self) -> Result<BackendConfig, Diagnostics> {
        let unreadable = |reason: &str| {
            fail("Invalid plan file", format!("The backend of the plan cannot be used: {reason} Create a new plan."))
        };
        let kind = BackendKind::find(&self.kind).ok_or_else(|| unreadable("its type is not supported."))?;
        BackendConfig::deserialize(kind, &self.config)
            .map_err(|problems| unreadable(&problems.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")))
    }
}

/// Reports settings that a store refuses.
fn refused(context: &Context, kind: &str, problem: ConnectError) -> Diagnostics {
    let command = &context.wording.command;
    // The store words its own errors; the schema's get advice on how to set the argument.
    match problem {
        ConnectError::Store(problem) => problem.diagnostic().into(),
        ConnectError::Arguments(problems) => problems
            .into_iter()
            .map(|problem| {
                let summary = match &problem {
                    ArgumentError::Missing { .. } => "Missing required argument",
                    _ => "Invalid backend configuration",
                };
                let advice = match &problem {
                    // A cloud block cannot be completed by -backend-config.
                    ArgumentError::Missing { .. } if kind == BackendBlock::CLOUD => {
                        " Set it in the cloud block.".to_owned()
                    }
                    ArgumentError::Missing { name, .. } => format!(
                        " Set it in the block backend {kind:?}, or run \"{command} init -backend-config={name}=VALUE\"."
                    ),
                    _ => String::new(),
                };
                Diagnostic::error(summary, format!("{problem}{advice}"))
            })
            .collect(),
    }
}

/// Whether a text may be a URL with a user, a password or a token: in the part before the host, or in the query.
fn may_have_credentials(text: &str) -> bool {
    match text.split_once("://") {
        Some((_, rest)) => rest.contains(['@', '?', '#']),
        // Proxies may be written without a scheme: user:password@host.
        None => text.split_once('@').is_some_and(|(user, _)| user.contains(':')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: Option<&str>) -> BackendConfig {
        let arguments = Value::object(path.map(|path| ("path", Value::string(path))));
        BackendConfig::new(BackendKind::Local, &arguments).unwrap()
    }

    #[test]
    fn hashes_equal_those_of_both_products() {
        // What Terraform 1.15 records of these blocks; OpenTofu has the same arguments.
        assert_eq!(at(Some("a.tfstate")).hashes(), [2_985_648_108; 2]);
        assert_eq!(at(Some("b.tfstate")).hashes(), [2_554_194_718; 2]);
        assert_eq!(BackendConfig::default().hashes(), [666_019_178; 2]);
    }

    #[test]
    fn difference_describes_changed_arguments() {
        let both = Value::object([("path", Value::string("b")), ("workspace_dir", Value::string("w"))]);
        let new = BackendConfig::new(BackendKind::Local, &both).unwrap();
        let description = at(Some("a")).difference(&new);
        assert_eq!(description, "path was \"a\", and is now \"b\"; workspace_dir was not set, and is now \"w\"");
    }

    #[test]
    fn difference_leaves_out_urls_with_credentials() {
        let plain = "https://host/state";
        let secret = ["https://me:pw@host/state", "https://host/state?token=t", "http://pw@host", "me:pw@proxy:80"];
        let http = |name: &'static str, value: &str| {
            let arguments = [("address", plain), (name, value)].map(|(name, value)| (name, Value::string(value)));
            BackendConfig::new(BackendKind::find("http").unwrap(), &Value::object(arguments)).unwrap()
        };
        for name in ["address", "lock_address", "unlock_address"] {
            for value in secret {
                let [before, after] = [http(name, plain), http(name, value)];
                assert_eq!(before.difference(&after), format!("{name} has changed"));
                assert_eq!(after.difference(&before), format!("{name} has changed"));
            }
        }
        let shown = http("address", plain).difference(&http("address", "https://host/other"));
        assert_eq!(shown, "address was \"https://host/state\", and is now \"https://host/other\"");
    }

    #[test]
    fn serialized_form_is_read_back() {
        let config = at(Some("x"));
        assert_eq!(config.serialized().read().unwrap(), config);
    }
}
