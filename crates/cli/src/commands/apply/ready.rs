//! What carrying a plan out needs.

use groma_address::Name;
use groma_diagnostics::Diagnostics;
use groma_engine::{Input, Plan, Run};
use groma_state::LocalStore;
use indexmap::IndexMap;

use crate::arguments::Apply;
use crate::commands::backend::Elsewhere;

/// Which of the commands it is.
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
    /// What planning had to say, if nobody was told yet.
    pub(super) warnings: Diagnostics,
}

/// Where the options put the state.
pub(super) fn elsewhere(arguments: &Apply) -> Elsewhere<'_> {
    Elsewhere {
        state: arguments.planning.state.as_deref(),
        state_out: arguments.state_out.as_deref(),
        backup: arguments.backup.as_deref(),
        encryption: None,
    }
}
