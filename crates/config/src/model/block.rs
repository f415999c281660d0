//! Conditions and check blocks.

use groma_address::{Name, Resource as ResourceAddress};
use groma_diagnostics::Span;
use groma_hcl::Expression;

/// A `validation`, `precondition`, `postcondition` or `assert` block.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Expression that must evaluate to true.
    pub condition: Expression,
    /// Message to report if the condition is false.
    pub error_message: Expression,
    /// Span of the block's header.
    pub span: Span,
}

/// A `check` block: assertions whose failures are warnings.
#[derive(Clone, Debug)]
pub struct Check {
    /// The block's label.
    pub name: Name,
    /// The nested data block, which is also in [`Module::resources`](super::Module::resources).
    pub data: Option<ScopedData>,
    /// `assert` blocks, at least one.
    pub assertions: Vec<Condition>,
    /// Span of the block's header.
    pub span: Span,
}

/// The address of a data block nested in a check block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopedData {
    /// Address of the data resource.
    pub address: ResourceAddress,
    /// Span of the nested block's header.
    pub span: Span,
}
