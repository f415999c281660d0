//! Options of an audit.

use std::time::Duration;

use groma_provider::{Name, Provider, SchemaLookup};
use groma_value::Value;

use crate::lifecycle::Extent;

/// A user-provided configuration.
#[derive(Clone, Debug)]
pub struct UserConfig {
    /// The category of the type.
    pub kind: Kind,
    /// The name of the type.
    pub type_name: Name,
    /// The wholly known configuration.
    pub config: Value,
}

/// The options of an audit.
#[derive(Clone, Debug)]
pub struct Options {
    /// The extent of each lifecycle.
    pub extent: Extent,
    /// The number of generated configurations per type.
    pub configurations: usize,
    /// The seed of the generator.
    pub seed: u64,
    /// The timeout of a provider call.
    pub call_timeout: Duration,
    /// The names of the types to audit; empty for all types.
    pub types: Vec<String>,
    /// The provider configuration; empty by default, or generated if the schema requires arguments.
    pub provider_config: Option<Value>,
    /// User-provided configurations, which replace generated ones.
    pub user_configs: Vec<UserConfig>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            extent: Extent::Full,
            configurations: 24,
            seed: 1,
            call_timeout: Duration::from_secs(60),
            types: Vec::new(),
            provider_config: None,
            user_configs: Vec::new(),
        }
    }
}

impl Options {
    /// Whether a type is selected.
    pub(crate) fn is_wanted(&self, kind: Kind, name: &Name) -> bool {
        let is_named = self.types.is_empty() || self.types.iter().any(|wanted| **wanted == **name);
        let is_given = |given: &UserConfig| given.kind == kind && given.type_name == *name;
        is_named && (self.user_configs.is_empty() || self.user_configs.iter().any(is_given))
    }
}

/// A category of types that a provider has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Resource types, whose objects are managed.
    Resource,
    /// Data sources, which are read.
    DataSource,
    /// Ephemeral resource types, which are opened during a run.
    EphemeralResource,
    /// List queries for objects of a resource type.
    List,
    /// Actions, which are invoked.
    Action,
    /// Functions, which expressions call.
    Function,
}

impl Kind {
    /// All categories in the order of reports.
    pub const ALL: [Self; 6] =
        [Self::Resource, Self::DataSource, Self::EphemeralResource, Self::List, Self::Action, Self::Function];

    /// Returns the singular name for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Resource => "resource type",
            Self::DataSource => "data source",
            Self::EphemeralResource => "ephemeral resource type",
            Self::List => "list resource type",
            Self::Action => "action",
            Self::Function => "function",
        }
    }

    /// Returns the plural key for JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Resource => "resource_types",
            Self::DataSource => "data_sources",
            Self::EphemeralResource => "ephemeral_resources",
            Self::List => "list_resources",
            Self::Action => "actions",
            Self::Function => "functions",
        }
    }

    /// Returns the block type in a configuration.
    pub(crate) const fn block(self) -> &'static str {
        match self {
            Self::DataSource => "data",
            Self::EphemeralResource => "ephemeral",
            Self::List => "list",
            Self::Action => "action",
            Self::Resource | Self::Function => "resource",
        }
    }

    /// Whether the configuration is in a nested `config` block.
    pub(crate) const fn has_config_block(self) -> bool {
        matches!(self, Self::List | Self::Action)
    }

    pub(crate) fn names(self, provider: &dyn Provider) -> Vec<Name> {
        let names = provider.type_names();
        match self {
            Self::Resource => names.resources,
            Self::DataSource => names.data_sources,
            Self::EphemeralResource => names.ephemeral_resources,
            Self::List => names.lists,
            Self::Action => names.actions,
            Self::Function => names.functions,
        }
    }

    /// Looks up the schema of a type; functions have none.
    pub(crate) fn schema(self, provider: &dyn Provider, name: &str) -> SchemaLookup {
        match self {
            Self::Resource => provider.resource_schema(name),
            Self::DataSource => provider.data_schema(name),
            Self::EphemeralResource => provider.ephemeral_schema(name),
            Self::List => provider.list_schema(name),
            Self::Action => provider.action_schema(name),
            Self::Function => Ok(None),
        }
    }
}
