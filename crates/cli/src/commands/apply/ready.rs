//! Preparation of an apply.

use groma_address::Name;
use groma_diagnostics::Diagnostics;
use groma_engine::{Input, Plan, Run};
use groma_state::LocalStore;
use indexmap::IndexMap;

use crate::arguments::Apply;
use crate::commands::backend::Elsewhere;

/// The command that applies the plan.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Apply,
    Destroy,
    Refresh,
}

/// Everything that carrying a plan out needs.
pub(super) struct Ready {
    pub(super) run: Run,
    pub(super) store: LocalStore,
    pub(super) plan: Plan,
    pub(super) inputs: IndexMap<Name, Input>,
    /// Warnings of planning that are not shown yet.
    pub(super) warnings: Diagnostics,
}

/// Returns the state files that the options name.
pub(super) fn elsewhere(arguments: &Apply) -> Elsewhere<'_> {
    Elsewhere {
        state: arguments.planning.state.as_deref(),
        state_out: arguments.state_out.as_deref(),
        backup: arguments.backup.as_deref(),
        encryption: None,
    }
}
