//! Function call expressions.

use std::ops::Deref;

use groma_diagnostics::Span;
use triomphe::ThinArc;

use crate::ast::Expression;
use crate::name::Ident;

/// A function call. Cheap to clone; the arguments stand right after the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Call(ThinArc<CallHead, Expression>);

/// The parts of a [`Call`] besides its arguments.
#[derive(Debug, PartialEq)]
pub struct CallHead {
    /// The function; the name may hold namespaces: `provider::aws::arn_parse`.
    pub name: Ident,
    /// The location of `...`, if the last argument is a list of further arguments.
    pub expansion: Option<Span>,
    /// `(`.
    pub open: Span,
    /// `)`.
    pub close: Span,
}

impl Call {
    /// A call with `arguments`.
    pub fn new(head: CallHead, arguments: impl IntoIterator<Item = Expression, IntoIter: ExactSizeIterator>) -> Self {
        Self(ThinArc::from_header_and_iter(head, arguments.into_iter()))
    }

    /// Returns the arguments, in order.
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
