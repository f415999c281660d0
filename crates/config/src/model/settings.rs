//! Settings of `terraform` blocks: backend, cloud, required version.

use groma_address::Name;
use groma_diagnostics::Span;
use groma_hcl::Body;
use groma_value::Value;
use indexmap::IndexMap;

use crate::version::Constraints;

/// A `backend` block: type and arguments of the state storage.
#[derive(Clone, Debug)]
pub struct Backend {
    /// The backend type: the block's label.
    pub kind: Name,
    /// Arguments, to be decoded by the backend.
    pub body: Body,
    /// Values of the arguments that are known before planning: constants, and expressions of local values and
    /// variables with a value.
    pub known: IndexMap<Name, Value>,
    /// Span of the label.
    pub kind_span: Span,
    /// Span of the block's header.
    pub span: Span,
}

/// A `cloud` block: settings of HCP Terraform.
#[derive(Clone, Debug)]
pub struct Cloud {
    /// Arguments, to be decoded by the cloud backend.
    pub body: Body,
    /// Span of the block's header.
    pub span: Span,
}

/// A `required_version` argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRequirement {
    /// The allowed versions of the program.
    pub constraints: Constraints,
    /// Span of the constraints.
    pub span: Span,
}
