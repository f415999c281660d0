//! The kinds of things that a provider has.

use groma_provider::{Name, Provider, SchemaLookup};

/// A kind of thing that a provider has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Objects that are managed.
    Resource,
    /// What is only read.
    DataSource,
    /// What is open for the time of a run.
    EphemeralResource,
    /// What objects of a resource type are searched by.
    List,
    /// What is invoked.
    Action,
    /// What expressions call.
    Function,
}

impl Kind {
    /// All kinds, in the order of reports.
    pub const ALL: [Self; 6] =
        [Self::Resource, Self::DataSource, Self::EphemeralResource, Self::List, Self::Action, Self::Function];

    /// The name of one of them in texts.
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

    /// The name of all of them in documents for programs.
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

    /// The kind of the block that an author writes for it.
    pub(crate) const fn block(self) -> &'static str {
        match self {
            Self::DataSource => "data",
            Self::EphemeralResource => "ephemeral",
            Self::List => "list",
            Self::Action => "action",
            Self::Resource | Self::Function => "resource",
        }
    }

    /// Whether what is configured stands in a block `config` of its own.
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

    /// The schema of a type; a function has none.
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
