//! Results of planning a managed object: its change, its drift, and its record.

use std::sync::Arc;

use groma_plan::{Action, Mode, ResourceChange};
use groma_state::{Dependencies, ObjectRecord, State};
use groma_value::Value;

use super::event::{Instance, ManagedSubject};
use super::inputs::Inputs;
use super::plan_builder::PlanBuilder;
use super::plan_call::Draft;
use crate::evaluation::Evaluation;
use crate::moves::Moves;
use crate::options::Refresh;
use crate::record::{self, Circumstances, Object};
use crate::world::World;

pub(super) fn note_change(
    inputs: &Inputs<'_>,
    moves: &Moves,
    plan: &mut PlanBuilder,
    subject: &ManagedSubject,
    draft: Draft,
) {
    let change = change(inputs, moves, subject, draft);
    plan.add_change(subject.instance, change);
}

/// Returns the change of an object, with everything that belongs to it.
pub(super) fn change(inputs: &Inputs<'_>, moves: &Moves, subject: &ManagedSubject, draft: Draft) -> ResourceChange {
    // A destroy plan reports no moves. A deposed object moves with its instance, whose current object reports the move.
    let reports_move = subject.deposed.is_none() && inputs.mode() != Mode::Destroy;
    let previous_address = moves.previous.get(&subject.address).filter(|_| reports_move).cloned().map(Box::new);
    ResourceChange {
        address: subject.address.clone(),
        previous_address,
        deposed: subject.deposed.clone(),
        provider: Arc::clone(&subject.provider),
        schema: Arc::clone(&subject.schema),
        action: draft.action,
        reason: draft.reason,
        before: draft.before,
        after: draft.after,
        replace_paths: draft.replace_paths,
        planned_private: draft.private,
        planned_identity: draft.identity,
        create_before_destroy: subject.create_before_destroy,
        importing: subject.importing.clone().map(Box::new),
    }
}

/// Adds the drift of an object to the plan: its change outside of Terraform, which is the difference of `previous` (stored) and `prior`
/// (refreshed) (LC-22). `gone` is the identity of an object that no longer exists.
pub(super) fn note_drift(
    inputs: &Inputs<'_>,
    moves: &Moves,
    plan: &mut PlanBuilder,
    subject: &ManagedSubject,
    previous: &Value,
    prior: Option<&Object>,
    gone: Option<Value>,
) {
    let null = subject.schema.block.null_value();
    let now = prior.map_or(&null, |object| &object.value);
    let moved = subject.deposed.is_none() && moves.previous.contains_key(&subject.address);
    // A move alone is drift with the action no-op. `reported_drift` in `cli` decides whether it is shown.
    // As in Terraform, a destroy plan has no drift: the objects are destroyed whatever has changed.
    let is_destroyed = inputs.mode() == Mode::Destroy;
    if previous.is_null() || is_destroyed || (previous == now && !moved) {
        return;
    }
    let action = match prior {
        None => Action::Delete,
        Some(_) if previous == now => Action::NoOp,
        Some(_) => Action::Update,
    };
    plan.add_drift(ResourceChange {
        address: subject.address.clone(),
        previous_address: moves.previous.get(&subject.address).filter(|_| moved).cloned().map(Box::new),
        deposed: subject.deposed.clone(),
        provider: Arc::clone(&subject.provider),
        schema: Arc::clone(&subject.schema),
        action,
        reason: None,
        before: previous.clone(),
        after: now.clone(),
        replace_paths: Vec::new(),
        planned_private: Arc::default(),
        planned_identity: gone,
        create_before_destroy: false,
        importing: None,
    });
}

/// Updates the prior state to the refreshed object. Apply starts from the prior state, so a refresh-only plan is applied by writing it.
pub(super) fn note_prior(
    state: &mut State,
    evaluation: &mut Evaluation,
    subject: &ManagedSubject,
    previous: &Value,
    prior: Option<&Object>,
) {
    let Some(record) = state.object(&subject.address, subject.deposed.as_ref()).cloned() else {
        // An import has no record yet; its object becomes the prior state.
        if let (Some(_), Some(prior)) = (&subject.importing, prior) {
            keep_prior(state, evaluation, subject, prior, Circumstances::default());
        }
        return;
    };
    // The object no longer exists, so apply must not start from it.
    let Some(prior) = prior else {
        state.remove(&subject.address, subject.deposed.as_ref());
        return;
    };
    // An upgraded schema version or new private data must be recorded even if no attribute has changed.
    let same = *previous == prior.value
        && record.schema_version == subject.schema.version
        && record.flat_attributes().is_none()
        && record.private == prior.private
        && record::keeps_identity(&subject.schema, &record, prior.identity.as_ref());
    if same {
        // Another instance of its provider block may manage it now.
        if !record.is_managed_by(&subject.provider) {
            state.insert(&subject.address, subject.deposed.as_ref(), &subject.provider, record);
        }
        return;
    }
    let circumstances = Circumstances {
        status: record.status,
        dependencies: record.dependencies.clone(),
        create_before_destroy: record.create_before_destroy,
        is_kept: record.is_kept(),
    };
    keep_prior(state, evaluation, subject, prior, circumstances);
}

fn keep_prior(
    state: &mut State,
    evaluation: &mut Evaluation,
    subject: &ManagedSubject,
    prior: &Object,
    circumstances: Circumstances,
) {
    match record::encode(&subject.schema, prior, circumstances) {
        Ok(record) => {
            state.insert(&subject.address, subject.deposed.as_ref(), &subject.provider, Arc::new(record));
        }
        Err(problem) => evaluation.diagnostics.push(record::unrecordable(&subject.address, &problem)),
    }
}

/// Updates an unchanged object's recorded dependencies and flags to match the configuration, so that a later run destroys it in the
/// right order. Apply does this for changed objects.
pub(super) fn update_unchanged_record(
    inputs: &Inputs<'_>,
    world: &World,
    state: &mut State,
    subject: &ManagedSubject,
    action: Option<Action>,
) {
    // A destroy plan keeps the recorded dependencies, which give its order (OD-02).
    if inputs.mode() == Mode::Destroy {
        return;
    }
    let Some(instance) = subject.instance.filter(|_| subject.deposed.is_none()) else { return };
    let Some(record) = state.object(&subject.address, None).cloned() else { return };
    let wanted = configured_dependencies(inputs, world, instance);
    let dependencies = match (inputs.mode(), action) {
        (Mode::Normal, Some(Action::NoOp)) => wanted,
        // A refreshed object may be about to lose a dependency: both sets count until it has.
        (Mode::RefreshOnly, _) => union(&record.dependencies, wanted),
        (Mode::Normal, Some(_)) if inputs.options().refresh == Refresh::Read => union(&record.dependencies, wanted),
        _ => return,
    };
    // Only a normal plan evaluates `create_before_destroy` and `destroy`.
    let create_before_destroy = match inputs.mode() {
        Mode::Normal => subject.create_before_destroy,
        Mode::RefreshOnly | Mode::Destroy => record.create_before_destroy,
    };
    let is_kept = match inputs.mode() {
        Mode::Normal => subject.is_kept,
        Mode::RefreshOnly | Mode::Destroy => record.is_kept(),
    };
    // Comparing avoids a copy of the record for every unchanged object.
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
        // Identical lists are shared, so the union needs no new one.
        return other;
    }
    Dependencies::new(one.iter().chain(other.iter()).cloned())
}
