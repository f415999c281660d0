//! The names that an expression may refer to, depending on its block.

use groma_address::{Name, Resource as ResourceAddress};
use groma_hcl::Expression;
use groma_lang::Shelter;

/// The place of an expression: which of the objects with a limited range it may name.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place<'a> {
    /// `count.index` has a value.
    pub(super) count: bool,
    /// `each.key` and `each.value` have one.
    pub(super) each: bool,
    /// `self` has one.
    pub(super) self_object: bool,
    /// The check block around it.
    pub(super) check: Option<&'a Name>,
    /// The resource whose arguments it helps to make.
    pub(super) argument_of: Option<&'a ResourceAddress>,
    /// The names that `for` expressions around it bind.
    pub(super) bound: &'a [Name],
    /// The treatment of errors by enclosing expressions, such as `try`.
    pub(super) shelter: Shelter,
}

impl<'a> Place<'a> {
    /// Inside a block with these arguments.
    pub(super) fn repeated(count: Option<&Expression>, for_each: Option<&Expression>) -> Self {
        Self { count: count.is_some(), each: for_each.is_some(), ..Self::default() }
    }

    /// Inside something of which it is not known which object it belongs to: `count`, `each` and `self` may mean something.
    pub(super) fn of_any_object() -> Self {
        Self { count: true, each: true, self_object: true, ..Self::default() }
    }

    /// Allows references to `self`.
    pub(super) fn with_self(self) -> Self {
        Self { self_object: true, argument_of: None, ..self }
    }

    /// Sets the resource whose argument is checked.
    pub(super) fn argument_of(self, resource: &'a ResourceAddress) -> Self {
        Self { argument_of: Some(resource), ..self }
    }

    /// Sets the check block that is checked.
    pub(super) fn in_check(self, check: Option<&'a Name>) -> Self {
        Self { check, ..self }
    }

    pub(super) fn is_itself(&self, address: &ResourceAddress) -> bool {
        self.argument_of == Some(address)
    }
}
