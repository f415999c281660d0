//! References: a name and literal steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use groma_diagnostics::Span;

use crate::name::{Ident, Name};

/// A name followed by steps that need no evaluation.
///
/// It always stands behind an [`Arc`], with its steps right after it: there are more traversals than anything else in a
/// configuration, and each of them is one piece of memory.
#[derive(Debug, PartialEq)]
pub struct Traversal<S: ?Sized = [Step]> {
    /// The name it begins with.
    pub root: Ident,
    /// The whole text.
    pub span: Span,
    /// What the name was found to mean.
    pub meaning: Meaning,
    /// What is taken from it, in order.
    pub steps: S,
}

/// The most steps that a traversal has. What has more is parsed as a traversal with further steps after it
/// ([`Relative`](crate::Relative)); nothing that is looked up by its text has nearly as many.
pub const MOST_STEPS: usize = 16;

impl Traversal {
    /// A traversal whose name nobody has looked up yet; none if there are more than [`MOST_STEPS`].
    pub fn new(root: Ident, steps: Vec<Step>, span: Span) -> Option<Arc<Self>> {
        let length = steps.len();
        Self::of(root, steps.into_iter(), length, span)
    }

    /// The same with the next `length` of `steps`.
    pub(crate) fn of(root: Ident, steps: impl Iterator<Item = Step>, length: usize, span: Span) -> Option<Arc<Self>> {
        macro_rules! by_length {
            ($($fixed:literal)*) => {
                match length {
                    $($fixed => Some(fixed::<$fixed>(root, steps, span)),)*
                    _ => None,
                }
            };
        }
        by_length!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
    }
}

fn fixed<const N: usize>(root: Ident, mut steps: impl Iterator<Item = Step>, span: Span) -> Arc<Traversal> {
    let missing = || Step::Attribute { name: Name::from(""), span };
    let steps: [Step; N] = std::array::from_fn(|_| steps.next().unwrap_or_else(missing));
    Arc::new(Traversal { root, span, meaning: Meaning::default(), steps })
}

/// What a name means, as a number of whoever looks names up: kept with the text, so that it is looked up once.
///
/// It is no part of the text: traversals that differ in nothing else are equal.
#[derive(Debug, Default)]
pub struct Meaning(AtomicU32);

impl Meaning {
    /// The number; 0 before one was kept.
    pub fn get(&self) -> u32 {
        // Nothing else is published with it, and whoever sees 0 looks the name up again.
        self.0.load(Ordering::Relaxed)
    }

    /// Keeps a number.
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
        /// The key.
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
    /// A string.
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
