//! Conditions, and the check blocks made of them.

use groma_address::{Name, Resource as ResourceAddress};
use groma_diagnostics::Span;
use groma_hcl::Expression;

/// A `validation`, `precondition`, `postcondition` or `assert` block.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Must come out true.
    pub condition: Expression,
    /// Says to people what is wrong otherwise.
    pub error_message: Expression,
    /// The location of the block's header.
    pub span: Span,
}

/// A `check` block: assertions that warn and never stop.
#[derive(Clone, Debug)]
pub struct Check {
    /// The label of the block.
    pub name: Name,
    /// The data resource inside it, which is in [`Module::resources`](super::Module::resources) too.
    pub data: Option<ScopedData>,
    /// Its assertions, at least one.
    pub assertions: Vec<Condition>,
    /// The location of the block's header.
    pub span: Span,
}

/// The address of a data resource that belongs to a check block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopedData {
    /// The address of the data source.
    pub address: ResourceAddress,
    /// The nested block's header.
    pub span: Span,
}
