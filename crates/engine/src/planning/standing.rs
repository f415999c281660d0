//! What the records of objects say about their place among others: what they depend on, and in which order they are replaced.

use std::sync::Arc;

use groma_plan::{Action, Mode};
use groma_state::{Dependencies, ObjectRecord, State};

use super::event::{Instance, ManagedSubject};
use super::inputs::Inputs;
use crate::options::Refresh;
use crate::world::World;

/// Brings the record of an object that stays as it is up to what the configuration says now, so that it is destroyed in the right
/// order one day, though nothing changes it until then. Who is changed gets all this from apply.
pub(super) fn note_standing(
    inputs: &Inputs<'_>,
    world: &World,
    state: &mut State,
    subject: &ManagedSubject,
    action: Option<Action>,
) {
    if inputs.mode() == Mode::Destroy {
        return;
    }
    let Some(instance) = subject.instance.filter(|_| subject.deposed.is_none()) else { return };
    let Some(record) = state.object(&subject.address, None).cloned() else { return };
    let wanted = configured_dependencies(inputs, world, instance);
    let dependencies = match (inputs.mode(), action) {
        (Mode::Normal, Some(Action::NoOp)) => wanted,
        // What is looked at may be about to let go of something: both count until it has.
        (Mode::RefreshOnly, _) => union(&record.dependencies, wanted),
        (Mode::Normal, Some(_)) if inputs.options().refresh == Refresh::Read => union(&record.dependencies, wanted),
        _ => return,
    };
    // A look does not work out whether a replacement creates first.
    let create_before_destroy = match inputs.mode() {
        Mode::Normal => subject.create_before_destroy,
        Mode::RefreshOnly | Mode::Destroy => record.create_before_destroy,
    };
    let is_kept = match inputs.mode() {
        Mode::Normal => subject.is_kept,
        Mode::RefreshOnly | Mode::Destroy => record.is_kept(),
    };
    let is_same = record.dependencies == dependencies && record.create_before_destroy == create_before_destroy;
    if is_same && record.is_kept() == is_kept {
        return;
    }
    let record = ObjectRecord { dependencies, create_before_destroy, ..(*record).clone() }.kept(is_kept);
    state.insert(&subject.address, None, &subject.provider, Arc::new(record));
}

fn configured_dependencies(inputs: &Inputs<'_>, world: &World, instance: Instance) -> Dependencies {
    let module = world.module(instance.module).of;
    let node = world.static_module(instance.module).resource(instance.resource as usize);
    inputs.graph().ancestors().of(module, node)
}

fn union(one: &Dependencies, other: Dependencies) -> Dependencies {
    if one.is_empty() || *one == other {
        return other;
    }
    Dependencies::new(one.iter().chain(other.iter()).cloned())
}
