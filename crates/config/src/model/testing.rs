//! What files of tests say about other files and about the configuration.

use std::fmt;

use groma_address::{InstanceKey, ModuleInstance, Resource};
use groma_diagnostics::Span;

use crate::module_source::ModuleSource;
use crate::version::Constraints;

/// The `module` block of a run: what is run in the place of the configuration under test.
#[derive(Clone, Debug)]
pub struct RunModule {
    /// Where it comes from: a folder, seen from the root module, or a registry.
    pub source: ModuleSource,
    /// The versions allowed; only for modules of a registry.
    pub version: Constraints,
    /// The block's header.
    pub block: Span,
    /// The `source` argument.
    pub span: Span,
}

/// A block that gives values in the place of what a provider or a module would say.
#[derive(Clone, Debug)]
pub struct Override {
    /// Whose values these are.
    pub target: OverrideTarget,
    /// The block's header.
    pub block: Span,
    /// The `target` argument.
    pub span: Span,
}

/// An object whose values a test gives: a resource, or all outputs of a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OverrideTarget {
    /// The module, or that of the resource.
    pub module: ModuleInstance,
    /// The resource.
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
