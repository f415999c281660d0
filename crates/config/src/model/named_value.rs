//! Input variables, local values and output values.

use groma_address::{Name, Resource as ResourceAddress};
use groma_diagnostics::Span;
use groma_hcl::{Expression, Traversal};
use groma_lang::TypeConstraint;
use groma_value::Value;

/// A `variable` block.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The block's label.
    pub name: Name,
    /// The type with defaults of optional attributes; `any` without a `type` argument.
    pub constraint: TypeConstraint,
    /// Whether a `type` argument is present. Without one, text from the command line or environment is a string; with
    /// a type other than a primitive one, the text is parsed as an expression.
    pub has_type: bool,
    /// The default value, converted to the type; `None` makes the variable required.
    pub default: Option<Value>,
    /// Whether the value is redacted in output.
    pub sensitive: bool,
    /// Whether the value is never written to the state or plan.
    pub ephemeral: bool,
    /// Whether null is a valid value; if not, null means the default.
    pub nullable: bool,
    /// Whether the value must be known while loading, for module sources and versions.
    pub constant: bool,
    /// Description for users of the module.
    pub description: Option<Name>,
    /// Deprecation message, if the variable is deprecated.
    pub deprecated: Option<Name>,
    /// Span of the `deprecated` argument.
    pub deprecated_span: Span,
    /// `validation` blocks in source order.
    pub validations: Vec<Condition>,
    /// Span of the block's header.
    pub span: Span,
}

impl Variable {
    /// Whether the caller must set a value.
    pub fn is_required(&self) -> bool {
        self.default.is_none()
    }
}

/// A local value: one argument of a `locals` block.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// Name of the local value.
    pub name: Name,
    /// Expression of the local value.
    pub expression: Expression,
    /// Span of the whole argument.
    pub span: Span,
}

/// An `output` block.
#[derive(Clone, Debug)]
pub struct Output {
    /// The block's label.
    pub name: Name,
    /// The `value` argument.
    pub expression: Expression,
    /// The `type` argument, to which the value is converted.
    pub constraint: Option<TypeConstraint>,
    /// Whether the value is redacted in output.
    pub sensitive: bool,
    /// Whether the value is never written to the state or plan.
    pub ephemeral: bool,
    /// Description for users of the module.
    pub description: Option<Name>,
    /// Deprecation message, if the output is deprecated.
    pub deprecated: Option<Name>,
    /// Span of the `deprecated` argument in a `.tf` file. Terraform refuses it in a root module, OpenTofu does not.
    pub deprecated_span: Option<Span>,
    /// Explicit dependencies, in addition to the references of the value.
    pub depends_on: Vec<Traversal>,
    /// `precondition` blocks in source order.
    pub preconditions: Vec<Condition>,
    /// Span of the block's header.
    pub span: Span,
}

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
