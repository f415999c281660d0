//! Blocks of test files that affect loading.

use std::fmt;

use groma_address::{InstanceKey, ModuleInstance, Resource};
use groma_diagnostics::Span;

use crate::module_source::ModuleSource;
use crate::version::Constraints;

/// The `module` block of a run: the module under test, used instead of the configuration.
#[derive(Clone, Debug)]
pub struct RunModule {
    /// Source address: a directory relative to the root module, or a registry module.
    pub source: ModuleSource,
    /// Allowed versions; for registry modules only.
    pub version: Constraints,
    /// Span of the block's header.
    pub block: Span,
    /// Span of the `source` argument.
    pub span: Span,
}

/// An `override_*` block: values that replace those of a provider or a module.
#[derive(Clone, Debug)]
pub struct Override {
    /// The overridden resource or module.
    pub target: OverrideTarget,
    /// Span of the block's header.
    pub block: Span,
    /// Span of the `target` argument.
    pub span: Span,
}

/// The target of an override block: a resource, or all outputs of a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OverrideTarget {
    /// The overridden module, or the module that contains the resource.
    pub module: ModuleInstance,
    /// The overridden resource or instance; `None` for a whole module.
    pub resource: Option<(Resource, InstanceKey)>,
}

impl fmt::Display for OverrideTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((resource, key)) = &self.resource else { return self.module.fmt(formatter) };
        if !self.module.is_root() {
            write!(formatter, "{}.", self.module)?;
        }
        write!(formatter, "{resource}{key}")
    }
}
