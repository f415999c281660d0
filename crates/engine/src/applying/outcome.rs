//! What an apply leaves.

use groma_diagnostics::Diagnostics;
use groma_state::State;

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
