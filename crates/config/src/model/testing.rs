//! The references of test files to other files and to the configuration.

use std::fmt;

use groma_address::{InstanceKey, ModuleInstance, Resource};
use groma_diagnostics::Span;

use crate::module_source::ModuleSource;
use crate::version::Constraints;

/// The `module` block of a run: the module that is tested instead of the configuration.
#[derive(Clone, Debug)]
pub struct RunModule {
    /// The source of the module: a directory relative to the root module, or a registry.
    pub source: ModuleSource,
    /// The versions allowed; only for modules of a registry.
    pub version: Constraints,
    /// The location of the block's header.
    pub block: Span,
    /// The location of the `source` argument.
    pub span: Span,
}

/// A block with values that replace those of a provider or module.
#[derive(Clone, Debug)]
pub struct Override {
    /// The overridden object.
    pub target: OverrideTarget,
    /// The location of the block's header.
    pub block: Span,
    /// The location of the `target` argument.
    pub span: Span,
}

/// An object whose values a test gives: a resource, or all outputs of a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OverrideTarget {
    /// The module, or that of the resource.
    pub module: ModuleInstance,
    /// The overridden resource.
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
