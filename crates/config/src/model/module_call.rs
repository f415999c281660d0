//! `module` blocks: calls of child modules.

use groma_address::Name;
use groma_diagnostics::Span;
use groma_hcl::{Body, Expression, Traversal};

use super::provider::{LocalProvider, LocalProviderRef};
use crate::module_source::ModuleSource;
use crate::version::Constraints;

/// A `module` block.
#[derive(Clone, Debug)]
pub struct ModuleCall {
    /// The block's label.
    pub name: Name,
    /// The parsed source; `None` if it was invalid (and reported) or needs early evaluation.
    pub source: Option<ModuleSource>,
    /// The `source` argument as written.
    pub source_expression: Option<Expression>,
    /// Allowed versions; for registry modules only.
    pub version: Constraints,
    /// The `version` argument as written.
    pub version_expression: Option<Expression>,
    /// The input arguments: the block without its meta-arguments.
    pub body: Body,
    /// `count`: the number of instances.
    pub count: Option<Expression>,
    /// `for_each`: one instance for each element.
    pub for_each: Option<Expression>,
    /// `lifecycle { enabled = … }`: one instance or none.
    pub enabled: Option<Expression>,
    /// The product in whose file the block is written; see [`Module::product_of`](super::Module::product_of).
    pub(crate) written_for: Product,
    /// Provider configurations passed to the child under its own names.
    pub providers: Vec<PassedProvider>,
    /// Whether deprecation warnings from inside of the module are suppressed.
    pub ignore_nested_deprecations: bool,
    /// Objects that must be applied before anything in the module.
    pub depends_on: Vec<Traversal>,
    /// Whether `depends_on` is present, even if empty.
    pub has_depends_on: bool,
    /// Span of the block's header.
    pub span: Span,
}

impl ModuleCall {
    /// Optional meta-arguments of a `module` block.
    pub const META_ARGUMENTS: &[&str] = &["count", "for_each", "providers", "depends_on", "version"];

    /// Whether `count` or `for_each` is set, so the number of instances may be any, including zero.
    pub fn is_repeated(&self) -> bool {
        self.count.is_some() || self.for_each.is_some()
    }

    /// Whether each instance of the calling module has exactly one instance of this module, independent of any value.
    pub fn has_single_instance(&self) -> bool {
        !self.is_repeated() && self.enabled.is_none()
    }
}

/// The product whose rules apply where Terraform and OpenTofu differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// Terraform's rules, for `.tf` files.
    Terraform,
    /// OpenTofu's rules, for `.tofu` files and features that only OpenTofu has.
    OpenTofu,
}

/// An entry of the `providers` argument of a module call or a test run.
#[derive(Clone, Debug)]
pub struct PassedProvider {
    /// The child module's local name of the configuration.
    pub child: LocalProvider,
    /// Span of the child's local name.
    pub child_span: Span,
    /// The caller's provider configuration that is passed.
    pub parent: LocalProviderRef,
}
