//! What a plan keeps of a managed object: its change, what changed outside, and its record.

use std::sync::Arc;

use groma_plan::{Action, Mode, ResourceChange};
use groma_state::State;
use groma_value::Value;

use super::draft::Draft;
use super::event::ManagedSubject;
use super::inputs::Inputs;
use super::plan_builder::PlanBuilder;
use crate::evaluation::Evaluation;
use crate::moves::Moves;
use crate::record::{self, Circumstances, Object};

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

/// What happens to an object, with all that belongs to it.
pub(super) fn change(inputs: &Inputs<'_>, moves: &Moves, subject: &ManagedSubject, draft: Draft) -> ResourceChange {
    // Where an object was before is of no interest once it goes with all others.
    let moves_matter = subject.deposed.is_none() && inputs.mode() != Mode::Destroy;
    let previous_address = moves.previous.get(&subject.address).filter(|_| moves_matter).cloned().map(Box::new);
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

/// What changed outside since the last run (LC-22); `gone` names an object that is not there any more.
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
    // What has changed in an object that goes matters to nobody, as in Terraform.
    let goes = inputs.mode() == Mode::Destroy;
    if previous.is_null() || goes || (previous == now && !moved) {
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

/// The state is brought to what was read, so that apply starts from there.
pub(super) fn note_prior(
    state: &mut State,
    evaluation: &mut Evaluation,
    subject: &ManagedSubject,
    previous: &Value,
    prior: Option<&Object>,
) {
    let Some(record) = state.object(&subject.address, subject.deposed.as_ref()).cloned() else {
        if let (Some(_), Some(prior)) = (&subject.importing, prior) {
            keep_prior(state, evaluation, subject, prior, Circumstances::default());
        }
        return;
    };
    let Some(prior) = prior else {
        state.remove(&subject.address, subject.deposed.as_ref());
        return;
    };
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
