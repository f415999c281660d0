//! References: a name and literal steps.

use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};

use groma_diagnostics::Span;
use triomphe::ThinArc;

use crate::name::{Ident, Name};

/// A name followed by steps that need no evaluation. Cheap to clone.
///
/// The steps stand right after the rest: there are more traversals than anything else in a configuration, and each of
/// them is one piece of memory and one pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct Traversal(ThinArc<TraversalHead, Step>);

/// The parts of a [`Traversal`] besides its steps.
#[derive(Debug, PartialEq)]
pub struct TraversalHead {
    /// The name it begins with.
    pub root: Ident,
    /// The location of the traversal.
    pub span: Span,
    /// The resolution of the name.
    pub meaning: Meaning,
}

impl Traversal {
    /// A traversal whose name nobody has looked up yet.
    pub fn new(root: Ident, steps: impl IntoIterator<Item = Step, IntoIter: ExactSizeIterator>, span: Span) -> Self {
        let head = TraversalHead { root, span, meaning: Meaning::default() };
        Self(ThinArc::from_header_and_iter(head, steps.into_iter()))
    }

    /// Returns the steps after the name, in order.
    pub fn steps(&self) -> &[Step] {
        &self.0.slice
    }
}

impl Deref for Traversal {
    type Target = TraversalHead;

    fn deref(&self) -> &TraversalHead {
        &self.0.header.header
    }
}

/// The resolution of a name, as a number that the resolver defines: stored with the name, so that it is resolved once.
///
/// It is no part of the text: traversals that differ in nothing else are equal.
#[derive(Debug, Default)]
pub struct Meaning(AtomicU32);

impl Meaning {
    /// The number; 0 before one was kept.
    pub fn get(&self) -> u32 {
        // Nothing else is published with it, and a reader who sees 0 resolves the name again.
        self.0.load(Ordering::Relaxed)
    }

    /// Stores a resolution.
    pub fn keep(&self, number: u32) {
        self.0.store(number, Ordering::Relaxed);
    }
}

impl Clone for Meaning {
    fn clone(&self) -> Self {
        Self(AtomicU32::new(self.get()))
    }
}

impl PartialEq for Meaning {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// One step of a traversal.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// `.name`; the span covers the dot too.
    Attribute {
        /// The name after the dot.
        name: Name,
        /// From the dot to the end of the name.
        span: Span,
    },
    /// `["key"]`, `[0]` or the older `.0`.
    Index {
        /// The literal key.
        key: LiteralKey,
        /// From bracket to bracket, or from the dot.
        span: Span,
    },
}

/// An index key that is written out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LiteralKey {
    /// A number, with its digits as written.
    Number(Name),
    /// A string key.
    String(Name),
}

impl Step {
    /// The text of the step.
    pub const fn span(&self) -> Span {
        match self {
            Self::Attribute { span, .. } | Self::Index { span, .. } => *span,
        }
    }
}
