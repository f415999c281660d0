//! What conversations about managed objects come to, and what is said in them.

use groma_diagnostics::Diagnostics;
use groma_plan::{Action, ActionReason, DeferralReason};
use groma_provider::{Deferred, Planned, Private};
use groma_value::{Path, Value};
use indexmap::IndexSet;

/// A change before it gets its place in the plan.
pub struct Draft {
    /// What happens.
    pub action: Action,
    /// Why.
    pub reason: Option<ActionReason>,
    /// The object before.
    pub before: Value,
    /// The object after.
    pub after: Value,
    /// What forced a replacement.
    pub replace_paths: Vec<Path>,
    /// The provider's bytes for apply.
    pub private: Private,
    /// What will name the object in its service.
    pub identity: Option<Value>,
    /// Why the change is left to a later run.
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

/// What is said in a conversation besides its result.
pub(super) struct Told {
    pub(super) diagnostics: Diagnostics,
    /// Why the change is left to a later run.
    pub(super) deferred: Option<DeferralReason>,
    /// What names an object that is gone, as reading told it last: as in Terraform, its successor is planned with that.
    pub(super) gone: Option<Value>,
}

impl Told {
    /// A conversation that begins, about something that is left to a later run for this reason already.
    pub(super) fn new(left: Option<DeferralReason>) -> Self {
        Self { diagnostics: Diagnostics::new(), deferred: left, gone: None }
    }

    /// What the provider said first counts.
    pub(super) fn defer(&mut self, deferred: Option<Deferred>) {
        self.deferred = self.deferred.or(deferred.map(DeferralReason::from));
    }
}

/// What the plan of a change hands on to the plan of the replacement that takes its place.
pub(super) struct Again {
    pub(super) private: Private,
    pub(super) identity: Option<Value>,
    /// What forced the replacement.
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
