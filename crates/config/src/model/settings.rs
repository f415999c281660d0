//! What `terraform` blocks set apart from providers.

use groma_address::Name;
use groma_diagnostics::Span;
use groma_hcl::Body;
use groma_value::Value;
use indexmap::IndexMap;

use crate::version::Constraints;

/// A `backend` block.
#[derive(Clone, Debug)]
pub struct Backend {
    /// Its label.
    pub kind: Name,
    /// Its arguments.
    pub body: Body,
    /// The values of the arguments, of those that are known before anything is planned: constants, and what is made of variables with a
    /// value and of local values.
    pub known: IndexMap<Name, Value>,
    /// Where the label is written.
    pub kind_span: Span,
    /// The block's header.
    pub span: Span,
}

/// A `cloud` block.
#[derive(Clone, Debug)]
pub struct Cloud {
    /// Its arguments.
    pub body: Body,
    /// The block's header.
    pub span: Span,
}

/// A `required_version` argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRequirement {
    /// The versions allowed.
    pub constraints: Constraints,
    /// Where they are written.
    pub span: Span,
}
