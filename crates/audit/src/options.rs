//! How an audit is done.

use std::time::Duration;

use groma_provider::Name;
use groma_value::Value;

use crate::kind::Kind;
use crate::life::Extent;

/// A configuration that somebody wrote.
#[derive(Clone, Debug)]
pub struct Given {
    /// What it is of.
    pub kind: Kind,
    /// The type.
    pub type_name: Name,
    /// The configuration, wholly known.
    pub config: Value,
}

/// How an audit is done.
#[derive(Clone, Debug)]
pub struct Options {
    /// How far each life goes.
    pub extent: Extent,
    /// How many configurations are made up for each type.
    pub configurations: usize,
    /// What the made-up configurations depend on.
    pub seed: u64,
    /// How long a call may take.
    pub patience: Duration,
    /// The types to look at; all when empty.
    pub types: Vec<String>,
    /// The provider's configuration; without one it is empty, or made up where something is required.
    pub provider_config: Option<Value>,
    /// Configurations to use in place of made-up ones.
    pub given: Vec<Given>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            extent: Extent::Whole,
            configurations: 24,
            seed: 1,
            patience: Duration::from_secs(60),
            types: Vec::new(),
            provider_config: None,
            given: Vec::new(),
        }
    }
}

impl Options {
    /// Whether a type is looked at.
    pub(crate) fn is_wanted(&self, kind: Kind, name: &Name) -> bool {
        let is_named = self.types.is_empty() || self.types.iter().any(|wanted| **wanted == **name);
        let is_given = |given: &Given| given.kind == kind && given.type_name == *name;
        is_named && (self.given.is_empty() || self.given.iter().any(is_given))
    }
}
