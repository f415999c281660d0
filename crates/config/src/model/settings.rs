//! The settings in `terraform` blocks, except providers.

use groma_address::Name;
use groma_diagnostics::Span;
use groma_hcl::Body;
use groma_value::Value;
use indexmap::IndexMap;

use crate::version::Constraints;

/// A decoded `backend` block.
#[derive(Clone, Debug)]
pub struct Backend {
    /// The backend type.
    pub kind: Name,
    /// The arguments of the backend.
    pub body: Body,
    /// The values of arguments that are known before planning: constants, and expressions of set variables
    /// and local values.
    pub known: IndexMap<Name, Value>,
    /// The location of the label.
    pub kind_span: Span,
    /// The location of the block's header.
    pub span: Span,
}

/// A decoded `cloud` block.
#[derive(Clone, Debug)]
pub struct Cloud {
    /// The arguments of the block.
    pub body: Body,
    /// The location of the block's header.
    pub span: Span,
}

/// A decoded `required_version` argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRequirement {
    /// The allowed versions of the program.
    pub constraints: Constraints,
    /// The location of the argument.
    pub span: Span,
}
