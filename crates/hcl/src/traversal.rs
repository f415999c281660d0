//! Traversals: a name followed by literal steps.

use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};

use groma_diagnostics::Span;
use triomphe::ThinArc;

use crate::name::{Ident, Name};

/// A name followed by steps that need no evaluation. Cheap to clone.
///
/// Header and steps share one allocation and are reached by one pointer, because traversals are the most frequent nodes
/// of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Traversal(ThinArc<TraversalHead, Step>);

/// The parts of a [`Traversal`] other than its steps.
#[derive(Debug, PartialEq)]
pub struct TraversalHead {
    /// The name at the beginning.
    pub root: Ident,
    /// The span of the whole traversal.
    pub span: Span,
    /// The cached resolution of the name.
    pub meaning: Meaning,
}

impl Traversal {
    /// Creates a traversal whose name is not resolved yet.
    pub fn new(root: Ident, steps: impl IntoIterator<Item = Step, IntoIter: ExactSizeIterator>, span: Span) -> Self {
        let head = TraversalHead { root, span, meaning: Meaning::default() };
        Self(ThinArc::from_header_and_iter(head, steps.into_iter()))
    }

    /// The steps after the name, in order.
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

/// The cached resolution of a name, as a number chosen by the resolver.
///
/// It is not part of the syntax: traversals that differ only in it are equal.
#[derive(Debug, Default)]
pub struct Meaning(AtomicU32);

impl Meaning {
    /// Returns the cached number; 0 if nothing is cached.
    pub fn get(&self) -> u32 {
        // No other data is published through the cell, and a reader that misses the store resolves the name again.
        self.0.load(Ordering::Relaxed)
    }

    /// Stores the number of a resolution.
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
    /// `.name`; the span includes the dot.
    Attribute {
        /// The name after the dot.
        name: Name,
        /// The span from the dot to the end of the name.
        span: Span,
    },
    /// `["key"]`, `[0]` or the legacy `.0`.
    Index {
        /// The literal key of the element.
        key: LiteralKey,
        /// The span from bracket to bracket, or from the dot.
        span: Span,
    },
}

/// A literal index key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LiteralKey {
    /// A number, with its digits as written.
    Number(Name),
    /// A string key, with escapes resolved.
    String(Name),
}

impl Step {
    /// The span of the step, including its dot or brackets.
    pub const fn span(&self) -> Span {
        match self {
            Self::Attribute { span, .. } | Self::Index { span, .. } => *span,
        }
    }
}
