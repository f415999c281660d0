//! Recorded metadata about an object's relations: its dependencies, and the order of its replacement.

use std::sync::Arc;

use groma_state::{Dependencies, ObjectRecord};

use super::event::{Instance, ManagedSubject};
use super::planner::Planner;
use crate::options::Refresh;
use crate::plan::{Action, Mode};

impl Planner<'_> {
    /// Brings the record of an object that stays as it is up to what the configuration says now, so that it is destroyed in the right
    /// order one day, though nothing changes it until then. Who is changed gets all this from apply.
    pub(super) fn note_standing(&mut self, subject: &ManagedSubject, action: Option<Action>) {
        if self.options.mode == Mode::Destroy {
            return;
        }
        let Some(instance) = subject.instance.filter(|_| subject.deposed.is_none()) else { return };
        let Some(record) = self.state.object(&subject.address, None).cloned() else { return };
        let wanted = self.configured_dependencies(instance);
        let dependencies = match (self.options.mode, action) {
            (Mode::Normal, Some(Action::NoOp)) => wanted,
            // A refreshed object may be about to lose a dependency: both sets count until it has.
            (Mode::RefreshOnly, _) => union(&record.dependencies, wanted),
            (Mode::Normal, Some(_)) if self.options.refresh == Refresh::Read => union(&record.dependencies, wanted),
            _ => return,
        };
        // A look does not work out whether a replacement creates first.
        let create_before_destroy = match self.options.mode {
            Mode::Normal => subject.create_before_destroy,
            Mode::RefreshOnly | Mode::Destroy => record.create_before_destroy,
        };
        let is_kept = match self.options.mode {
            Mode::Normal => subject.is_kept,
            Mode::RefreshOnly | Mode::Destroy => record.is_kept(),
        };
        let is_same = record.dependencies == dependencies && record.create_before_destroy == create_before_destroy;
        if is_same && record.is_kept() == is_kept {
            return;
        }
        let record = ObjectRecord { dependencies, create_before_destroy, ..(*record).clone() }.kept(is_kept);
        self.state.insert(&subject.address, None, &subject.provider, Arc::new(record));
    }

    fn configured_dependencies(&mut self, instance: Instance) -> Dependencies {
        let module = self.world.module(instance.module).of;
        let node = self.world.static_module(instance.module).resource(instance.resource as usize);
        self.graph.ancestors().of(module, node)
    }
}

fn union(one: &Dependencies, other: Dependencies) -> Dependencies {
    if one.is_empty() || *one == other {
        return other;
    }
    Dependencies::new(one.iter().chain(other.iter()).cloned())
}
