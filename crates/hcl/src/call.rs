//! The syntax node of function calls.

use std::ops::Deref;

use groma_diagnostics::Span;
use triomphe::ThinArc;

use crate::ast::Expression;
use crate::depth::Shared;
use crate::name::Ident;

/// A function call. Cheap to clone: header and arguments share one allocation.
#[derive(Clone, Debug, PartialEq)]
pub struct Call(Shared<ThinArc<CallHead, Expression>>);

/// The parts of a [`Call`] other than its arguments.
#[derive(Debug, PartialEq)]
pub struct CallHead {
    /// The function name, possibly with namespaces: `provider::aws::arn_parse`.
    pub name: Ident,
    /// The span of `...`, if the last argument is expanded into several.
    pub expansion: Option<Span>,
    /// The span of the opening parenthesis.
    pub open: Span,
    /// The span of the closing parenthesis.
    pub close: Span,
}

impl Call {
    /// Creates a call from its header and arguments.
    pub fn new(head: CallHead, arguments: impl IntoIterator<Item = Expression, IntoIter: ExactSizeIterator>) -> Self {
        Self(Shared::of(ThinArc::from_header_and_iter(head, arguments.into_iter())))
    }

    /// The argument expressions in source order.
    pub fn arguments(&self) -> &[Expression] {
        &self.0.slice
    }
}

impl Deref for Call {
    type Target = CallHead;

    fn deref(&self) -> &CallHead {
        &self.0.header.header
    }
}
