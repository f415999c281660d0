//! The outcome of an apply.

use groma_diagnostics::Diagnostics;
use groma_state::State;

use crate::hooks::Operation;

/// The state and the diagnostics after an apply, also after one that failed.
#[derive(Debug)]
pub struct AppliedRun {
    /// The state after the run.
    pub state: State,
    /// Numbers of objects that were added, changed and destroyed.
    pub done: Done,
    /// Errors and warnings of the run.
    pub diagnostics: Diagnostics,
    /// Memory of the run. It is released together with this value, so that a program that exits at once can skip that.
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
    /// Number of imported objects.
    pub imported: usize,
    /// Number of created objects.
    pub added: usize,
    /// Objects changed in place.
    pub changed: usize,
    /// Number of destroyed objects.
    pub destroyed: usize,
    /// Number of invoked actions.
    pub invoked: usize,
}
