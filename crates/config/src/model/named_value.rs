//! Input variables, local values and output values.

use groma_address::Name;
use groma_diagnostics::Span;
use groma_hcl::{Expression, Traversal};
use groma_lang::TypeConstraint;
use groma_value::Value;

use super::block::Condition;

/// A decoded `variable` block.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The label of the block.
    pub name: Name,
    /// Its type with the defaults of optional attributes; `any` when none is written.
    pub constraint: TypeConstraint,
    /// Whether a type is written: without one, text from outside is taken as a string, with one other than string it is
    /// read as an expression.
    pub has_type: bool,
    /// The default, converted to the type; a variable without one must be given.
    pub default: Option<Value>,
    /// Whether its value is hidden.
    pub sensitive: bool,
    /// Whether its value is never written to state or plan.
    pub ephemeral: bool,
    /// Whether null may be given; if not, null means the default.
    pub nullable: bool,
    /// Whether its value must be known before the configuration is loaded, for module sources and versions.
    pub constant: bool,
    /// The description for users.
    pub description: Option<Name>,
    /// Set when it should no longer be used: what to do instead.
    pub deprecated: Option<Name>,
    /// The location of the `deprecated` argument.
    pub deprecated_span: Span,
    /// The validation rules of the value.
    pub validations: Vec<Condition>,
    /// The location of the block's header.
    pub span: Span,
}

impl Variable {
    /// Whether the caller must give a value.
    pub fn is_required(&self) -> bool {
        self.default.is_none()
    }
}

/// One argument of a `locals` block.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// The name of the local value.
    pub name: Name,
    /// The expression of the value.
    pub expression: Expression,
    /// The location of the argument.
    pub span: Span,
}

/// A decoded `output` block.
#[derive(Clone, Debug)]
pub struct Output {
    /// The label of the block.
    pub name: Name,
    /// The expression of the value.
    pub expression: Expression,
    /// The type its value is converted to, where one is written.
    pub constraint: Option<TypeConstraint>,
    /// Whether its value is hidden.
    pub sensitive: bool,
    /// Whether its value is never written to state or plan.
    pub ephemeral: bool,
    /// The description for users.
    pub description: Option<Name>,
    /// Set when it should no longer be used: what to do instead.
    pub deprecated: Option<Name>,
    /// The location of `deprecated` in a file of Terraform, which refuses it in a root module, unlike OpenTofu.
    pub deprecated_span: Option<Span>,
    /// Explicit dependencies, in addition to references.
    pub depends_on: Vec<Traversal>,
    /// Conditions that must hold before the value is used.
    pub preconditions: Vec<Condition>,
    /// The location of the block's header.
    pub span: Span,
}
