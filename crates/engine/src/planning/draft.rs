//! The planned change of a managed object before it becomes part of the plan.

use groma_diagnostics::Diagnostics;
use groma_provider::{Deferred, Planned, Private};
use groma_value::{Path, Value};
use indexmap::IndexSet;

use crate::plan::{Action, ActionReason, DeferralReason};

/// A change before it gets its place in the plan.
pub struct Draft {
    /// The planned action.
    pub action: Action,
    /// The reason for the action.
    pub reason: Option<ActionReason>,
    /// The prior object, null if there is none.
    pub before: Value,
    /// The planned object, null for a deletion.
    pub after: Value,
    /// The paths that force a replacement.
    pub replace_paths: Vec<Path>,
    /// The provider's bytes for apply.
    pub private: Private,
    /// The planned identity of the object.
    pub identity: Option<Value>,
    /// The reason for deferring the change.
    pub deferred: Option<DeferralReason>,
}

impl Draft {
    /// A creation or an update that no provider was asked about, because it is left to a later run.
    pub fn unasked(before: Value, after: Value, reason: DeferralReason) -> Self {
        let action = match (before.is_null(), after.is_null()) {
            (true, _) => Action::Create,
            (false, true) => Action::Delete,
            (false, false) => Action::Update,
        };
        Self {
            action,
            reason: None,
            before,
            after,
            replace_paths: Vec::new(),
            private: Private::default(),
            identity: None,
            deferred: Some(reason),
        }
    }
}

/// Diagnostics and deferrals that accumulate while an object is planned.
pub(super) struct Told {
    pub(super) diagnostics: Diagnostics,
    /// The reason for deferring the change.
    pub(super) deferred: Option<DeferralReason>,
    /// The last known identity of an object that is gone. As in Terraform, its successor is planned with it.
    pub(super) gone: Option<Value>,
}

impl Told {
    /// A conversation that begins, about something that is left to a later run for this reason already.
    pub(super) fn new(left: Option<DeferralReason>) -> Self {
        Self { diagnostics: Diagnostics::new(), deferred: left, gone: None }
    }

    /// Records the provider's reason for deferring, unless there is one already.
    pub(super) fn defer(&mut self, deferred: Option<Deferred>) {
        self.deferred = self.deferred.or(deferred.map(DeferralReason::from));
    }
}

/// The parts of a change's plan that the plan of its replacement starts from.
pub(super) struct Again {
    pub(super) private: Private,
    pub(super) identity: Option<Value>,
    /// The paths that force the replacement.
    pub(super) paths: Vec<Path>,
}

impl Again {
    /// Takes the parts of `planned` that a second plan needs. A provider may name a path once for each reason; each path is kept once.
    pub(super) fn of(planned: Planned) -> Self {
        let paths: IndexSet<Path> = planned.requires_replace.into_iter().collect();
        Self { private: planned.private, identity: planned.identity, paths: paths.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_path_that_is_named_twice_forces_the_replacement_once() {
        let path = |name: &str| Path::root().attribute(name);
        let planned = Planned {
            state: Value::NULL,
            requires_replace: vec![path("b"), path("a"), path("b")],
            private: Arc::default(),
            identity: None,
            legacy_type_system: false,
            deferred: None,
        };
        assert_eq!(Again::of(planned).paths, [path("b"), path("a")]);
    }
}
