//! The inputs of an apply, from a new or a saved plan.

use groma_address::Name;
use groma_diagnostics::Diagnostics;
use groma_engine::{Input, Plan, Run};
use indexmap::IndexMap;

use crate::arguments::Apply;
use crate::commands::backend::{StateHandle, StateOverrides};

/// The command that applies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Apply,
    Destroy,
    Refresh,
}

/// A plan with everything that applying it requires.
pub(super) struct Ready {
    pub(super) run: Run,
    pub(super) store: StateHandle,
    pub(super) plan: Plan,
    pub(super) inputs: IndexMap<Name, Input>,
    /// Warnings of planning that have not been shown yet.
    pub(super) warnings: Diagnostics,
}

/// Returns the state files that flags select instead of the backend's.
pub(super) fn state_overrides(arguments: &Apply) -> StateOverrides<'_> {
    StateOverrides {
        state: arguments.planning.state.as_deref(),
        state_out: arguments.state_out.as_deref(),
        backup: arguments.backup.as_deref(),
        encryption: None,
    }
}
