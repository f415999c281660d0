//! What an apply leaves.

use groma_diagnostics::Diagnostics;
use groma_state::State;

use crate::hooks::Operation;

/// What there is after an apply, also after one that failed.
#[derive(Debug)]
pub struct AppliedRun {
    /// The state now.
    pub state: State,
    /// How many objects were added, changed and destroyed.
    pub done: Done,
    /// What went wrong, and warnings.
    pub diagnostics: Diagnostics,
    /// What the run worked with: released with this, so that a program that ends now may spare itself the time.
    #[expect(dead_code, reason = "kept only to be released")]
    pub(crate) spent: Option<Box<dyn std::any::Any>>,
}

impl Done {
    /// One more operation has ended well.
    pub(super) fn count(&mut self, operation: Operation) {
        match operation {
            Operation::Create => self.added += 1,
            Operation::Update => self.changed += 1,
            Operation::Delete => self.destroyed += 1,
            Operation::Read => {}
        }
    }

    /// With what somebody else counted.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            imported: self.imported + other.imported,
            added: self.added + other.added,
            changed: self.changed + other.changed,
            destroyed: self.destroyed + other.destroyed,
            invoked: self.invoked + other.invoked,
        }
    }
}

/// Numbers of operations that ended well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Objects taken over.
    pub imported: usize,
    /// Created objects.
    pub added: usize,
    /// Objects changed in place.
    pub changed: usize,
    /// Deleted objects.
    pub destroyed: usize,
    /// Actions invoked.
    pub invoked: usize,
}
