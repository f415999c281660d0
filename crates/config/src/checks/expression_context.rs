//! Availability of scoped objects in an expression.

use groma_address::{Name, Resource as ResourceAddress};
use groma_hcl::Expression;
use groma_lang::ErrorHandling;

/// The context of an expression: the objects with a limited scope that it may refer to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExpressionContext<'a> {
    /// Whether `count.index` is available.
    pub(super) count: bool,
    /// Whether `each.key` and `each.value` are available.
    pub(super) each: bool,
    /// Whether `self` is available.
    pub(super) self_object: bool,
    /// The enclosing check block.
    pub(super) check: Option<&'a Name>,
    /// The resource whose argument contains the expression; it cannot refer to itself.
    pub(super) argument_of: Option<&'a ResourceAddress>,
    /// Names bound by enclosing `for` expressions.
    pub(super) bound: &'a [Name],
    /// Whether an enclosing `try` or `can` handles errors of the expression.
    pub(super) error_handling: ErrorHandling,
}

impl<'a> ExpressionContext<'a> {
    /// Returns the context inside of a block with these repetition arguments.
    pub(super) fn repeated(count: Option<&Expression>, for_each: Option<&Expression>) -> Self {
        Self { count: count.is_some(), each: for_each.is_some(), ..Self::default() }
    }

    /// Returns a context in which `count`, `each` and `self` are available, for expressions whose enclosing block is
    /// unknown.
    pub(super) fn of_any_object() -> Self {
        Self { count: true, each: true, self_object: true, ..Self::default() }
    }

    /// Makes `self` available. A reference to the resource itself has its own check in such blocks.
    pub(super) fn with_self(self) -> Self {
        Self { self_object: true, argument_of: None, ..self }
    }

    /// Sets the resource whose argument contains the expression.
    pub(super) fn argument_of(self, resource: &'a ResourceAddress) -> Self {
        Self { argument_of: Some(resource), ..self }
    }

    /// Sets the enclosing check block.
    pub(super) fn in_check(self, check: Option<&'a Name>) -> Self {
        Self { check, ..self }
    }

    pub(super) fn is_itself(&self, address: &ResourceAddress) -> bool {
        self.argument_of == Some(address)
    }
}
