//! Options of an audit.

use std::time::Duration;

use groma_provider::Name;
use groma_value::Value;

use crate::kind::Kind;
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
