//! Input variables, local values and output values.

use groma_address::Name;
use groma_diagnostics::Span;
use groma_hcl::{Expression, Traversal};
use groma_lang::TypeConstraint;
use groma_value::Value;

use super::block::Condition;

/// A `variable` block.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its label.
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
    /// What people read about it.
    pub description: Option<Name>,
    /// Set when it should no longer be used: what to do instead.
    pub deprecated: Option<Name>,
    /// Where that is written.
    pub deprecated_span: Span,
    /// What values must fulfil.
    pub validations: Vec<Condition>,
    /// The block's header.
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
    /// Its name.
    pub name: Name,
    /// Its value.
    pub expression: Expression,
    /// The whole argument.
    pub span: Span,
}

/// An `output` block.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its label.
    pub name: Name,
    /// Its value.
    pub expression: Expression,
    /// The type its value is converted to, where one is written.
    pub constraint: Option<TypeConstraint>,
    /// Whether its value is hidden.
    pub sensitive: bool,
    /// Whether its value is never written to state or plan.
    pub ephemeral: bool,
    /// What people read about it.
    pub description: Option<Name>,
    /// Set when it should no longer be used: what to do instead.
    pub deprecated: Option<Name>,
    /// Where that is written in a file of Terraform, which does not take it in a root module; OpenTofu does.
    pub deprecated_span: Option<Span>,
    /// What must be done before it is known, beside what it refers to.
    pub depends_on: Vec<Traversal>,
    /// What must hold before it is taken.
    pub preconditions: Vec<Condition>,
    /// The block's header.
    pub span: Span,
}
