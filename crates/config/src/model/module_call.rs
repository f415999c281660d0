//! Calls of child modules.

use groma_address::Name;
use groma_diagnostics::Span;
use groma_hcl::{Body, Expression, Traversal};

use super::provider::{LocalProvider, LocalProviderRef};
use crate::module_source::ModuleSource;
use crate::version::Constraints;

/// A decoded `module` block.
#[derive(Clone, Debug)]
pub struct ModuleCall {
    /// The label of the block.
    pub name: Name,
    /// The source of the child module; `None` if the argument has an error (reported) or needs early evaluation.
    pub source: Option<ModuleSource>,
    /// The `source` argument as written.
    pub source_expression: Option<Expression>,
    /// The versions allowed; only for modules of a registry.
    pub version: Constraints,
    /// The `version` argument as written.
    pub version_expression: Option<Expression>,
    /// The input arguments: the block without its meta-arguments.
    pub body: Body,
    /// The `count` argument.
    pub count: Option<Expression>,
    /// One instance per element.
    pub for_each: Option<Expression>,
    /// `lifecycle { enabled = … }`: one instance or none.
    pub enabled: Option<Expression>,
    /// The product of the block's file; `Module::product_of` decides about its rules.
    pub(crate) written_for: Product,
    /// Provider configurations handed to the child under a name of its own.
    pub providers: Vec<PassedProvider>,
    /// Whether what is deprecated may be used inside without a word.
    pub ignore_nested_deprecations: bool,
    /// The objects that everything inside the module waits for.
    pub depends_on: Vec<Traversal>,
    /// Whether `depends_on` is written, be it empty.
    pub has_depends_on: bool,
    /// The location of the block's header.
    pub span: Span,
}

impl ModuleCall {
    /// The meta-arguments of such a block that need not be there.
    pub const WORDS: &[&str] = &["count", "for_each", "providers", "depends_on", "version"];

    /// Whether it has `count` or `for_each`: there are as many instances as that says, perhaps none.
    pub fn is_repeated(&self) -> bool {
        self.count.is_some() || self.for_each.is_some()
    }

    /// Whether there is one instance, whatever the values are, wherever the calling module is.
    pub fn is_always_there(&self) -> bool {
        !self.is_repeated() && self.enabled.is_none()
    }
}

/// The product whose rules apply, where the two differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// Terraform: what is in `.tf` files.
    Terraform,
    /// OpenTofu: what is in `.tofu` files, and what only OpenTofu has.
    OpenTofu,
}

/// An entry of a module call's `providers` argument.
#[derive(Clone, Debug)]
pub struct PassedProvider {
    /// The child module's name for it.
    pub child: LocalProvider,
    /// The location of the name.
    pub child_span: Span,
    /// The caller's provider configuration.
    pub parent: LocalProviderRef,
}
