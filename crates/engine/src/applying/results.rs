//! Processing of results: into the journal, the state and the values of the module instances.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_provider::Applied;
use groma_state::{Dependencies, DeposedKey, ObjectRecord, ObjectStatus};
use groma_value::Value;

use super::applier::Applier;
use super::apply_call::{ApplyCallResult, Beginning, CallEnd};
use super::event::ChangeEvent;
use super::inputs::Inputs;
use super::provisioners;
use super::recording::Recording;
use super::result_writer::FinishedChange;
use super::unanswered_calls::explain_unanswered_call;
use super::values;
use crate::evaluation::Evaluation;
use crate::hooks::{Operation, Subject};
use crate::record::{Circumstances, Object};
use crate::walk::Outcome;
use crate::world::World;

/// Processes the result of a change: records it, reports it, and settles its value. `None` if provisioners follow, which decide the
/// outcome.
pub(super) fn changed(applier: &mut Applier<'_>, step: u32, event: ChangeEvent) -> Option<Outcome> {
    let ChangeEvent { change, deposed, operation, before, started, elapsed, done } = event;
    let is_good = !done.diagnostics.has_errors();
    let is_made = done.applied.as_ref().is_some_and(|applied| !applied.state.is_null());
    // Provisioners run only after a creation that succeeded and produced an object.
    if operation == Operation::Create
        && is_made
        && is_good
        && provisioners::is_provisioned(&applier.inputs, &applier.world, change)
    {
        return provisioners::provision(applier, step, change, deposed.as_ref(), done, started);
    }
    let event = ChangeEvent { change, deposed, operation, before, started, elapsed, done };
    Some(match event.done.beginning {
        // Failures are reported by the walk: the writer handles only results that need no further decision.
        Beginning::LeftToWriter if is_good => hand_in(applier, event),
        _ => record_and_report(applier, event),
    })
}

/// Hands the result of a change to the result writer, which records and reports it.
fn hand_in(applier: &mut Applier<'_>, event: ChangeEvent) -> Outcome {
    let ChangeEvent { change, deposed, operation, before, elapsed, done, .. } = event;
    applier.evaluation.diagnostics.append(done.diagnostics);
    let Some(applied) = done.applied else { return Outcome::Done };
    let value = applied.state.clone();
    let node = applier.inputs.node(&applier.world, change);
    let planned = applier.inputs.change(change);
    applier.recording.hand_in(FinishedChange {
        operation,
        address: planned.address.clone(),
        deposed,
        provider: planned.provider.clone(),
        schema: Arc::clone(&planned.schema),
        before: (planned.before.clone(), before),
        object: Object { value: applied.state, private: applied.private, identity: applied.identity },
        node,
        create_before_destroy: planned.create_before_destroy,
        is_kept: applier.recording.is_kept(change),
        elapsed,
    });
    settle_changed(applier, change, operation, value)
}

/// Records and reports the result of a change on the walking thread.
fn record_and_report(applier: &mut Applier<'_>, event: ChangeEvent) -> Outcome {
    let ChangeEvent { change, deposed, operation, before, elapsed, done, .. } = event;
    let ApplyCallResult { applied, beginning, end, diagnostics: mut problems, .. } = done;
    let hooks = Arc::clone(&applier.inputs.session().hooks);
    let (address, known) = (applier.inputs.change(change).address.clone(), &applier.inputs.change(change).before);
    let subject = Subject::begun(operation, &address, deposed.clone(), known);
    if beginning == Beginning::LeftToWriter {
        // The result writer reports only successful changes. It may still be reporting earlier ones, which must appear first.
        applier.results_are_written();
        hooks.apply_start(&subject, operation);
    }
    let value = applied.as_ref().map(|applied| applied.state.clone());
    let is_begun = !matches!(end, CallEnd::NotBegun);
    match &end {
        CallEnd::Known => {}
        CallEnd::Lost(begin, repeatable) => explain_unanswered_call(&mut problems, begin, *repeatable),
        CallEnd::NotBegun => {
            // The problems of one operation would repeat the end of the provider, which is reported once for all of
            // them.
            applier.recording.note_not_begun(applier.inputs.change(change), operation, std::mem::take(&mut problems));
        }
    }
    match (applied, end) {
        // It is unknown whether the object exists: the journal keeps the call, and the next run recovers it.
        (Some(applied), CallEnd::Lost(begin, _)) if operation == Operation::Create && applied.state.is_null() => {
            // The old object was deposed for the replacement. It is current again until the next run recovers the new one.
            restore(&applier.inputs, &mut applier.evaluation, &mut applier.recording, change);
            // Restoring the old object has ended the call in the journal, so it is recorded again.
            problems.extend(applier.recording.begin(&begin).err());
        }
        (Some(applied), _) => {
            let status = status(operation, before.as_deref(), &problems);
            let recorded = record(applier, change, deposed.as_ref(), operation, before.as_deref(), applied, status);
            problems.extend(recorded.err());
        }
        // The provider was not called, so the object that was deposed for the replacement is current again.
        (None, _) => restore(&applier.inputs, &mut applier.evaluation, &mut applier.recording, change),
    }
    let failed = !is_begun || problems.has_errors();
    if beginning == Beginning::Unreported {
        // Nothing was left to change, or an error preceded the apply call.
    } else if failed {
        hooks.apply_errored(&subject, operation, &problems, elapsed);
    } else if let Some(value) = &value {
        // The value contains the identifier that the report shows.
        hooks.apply_complete(&Subject { identifier: None, ..subject }, operation, value, elapsed);
        applier.recording.count(operation);
    }
    applier.evaluation.diagnostics.append(problems);
    match value {
        // A failed change must not give its value to dependents, even if the provider returned an object.
        _ if failed => Outcome::Failed,
        Some(value) => settle_changed(applier, change, operation, value),
        None => Outcome::Done,
    }
}

/// Makes references see the new value of a changed object, and evaluates its postconditions.
fn settle_changed(applier: &mut Applier<'_>, change: u32, operation: Operation, value: Value) -> Outcome {
    match operation {
        Operation::Create | Operation::Update => {
            applier.settle(change, value.clone());
            values::postconditions(&applier.inputs, &applier.world, &mut applier.evaluation, change, &value)
        }
        Operation::Delete | Operation::Read => Outcome::Done,
    }
}

/// Writes the result to the journal and the state (LC-16, LC-18).
///
/// # Errors
///
/// The journal cannot be written, or the object cannot be encoded. The operation then counts as failed.
pub(super) fn record(
    applier: &mut Applier<'_>,
    change: u32,
    deposed: Option<&DeposedKey>,
    operation: Operation,
    before: Option<&ObjectRecord>,
    applied: Applied,
    status: ObjectStatus,
) -> Result<(), Diagnostic> {
    if applied.state.is_null() {
        let noted = applier.recording.remove(applier.inputs.change(change), deposed, before);
        // A creation that produced nothing leaves the deposed object as the only one (PL-10).
        if operation == Operation::Create {
            restore(&applier.inputs, &mut applier.evaluation, &mut applier.recording, change);
        }
        return noted;
    }
    let circumstances =
        circumstances(&applier.inputs, &applier.world, &applier.recording, change, operation, before, status);
    let object = Object { value: applied.state, private: applied.private, identity: applied.identity };
    applier.recording.record(applier.inputs.change(change), deposed, before, &object, circumstances)
}

/// Returns the metadata to record with an object. An object that a failed deletion left keeps its former metadata.
fn circumstances(
    inputs: &Inputs<'_>,
    world: &World,
    recording: &Recording,
    change: u32,
    operation: Operation,
    before: Option<&ObjectRecord>,
    status: ObjectStatus,
) -> Circumstances {
    match operation {
        Operation::Delete => Circumstances { status, ..before.map(Circumstances::of).unwrap_or_default() },
        Operation::Create | Operation::Update | Operation::Read => Circumstances {
            status,
            dependencies: dependencies(inputs, world, change),
            create_before_destroy: inputs.change(change).create_before_destroy,
            is_kept: recording.is_kept(change),
        },
    }
}

/// Returns the recorded dependencies of a change's resource.
pub(super) fn dependencies(inputs: &Inputs<'_>, world: &World, change: u32) -> Dependencies {
    inputs.node(world, change).map(|(module, node)| inputs.graph().ancestors().of(module, node)).unwrap_or_default()
}

/// Makes the object that was deposed for a failed replacement the current one again (PL-10).
fn restore(inputs: &Inputs<'_>, evaluation: &mut Evaluation, recording: &mut Recording, change: u32) {
    let noted = recording.restore(change, inputs.change(change));
    evaluation.diagnostics.extend(noted.err());
}

/// Returns the status to record. A creation that failed with an object leaves it tainted (LC-16); an object that was not replaced keeps
/// its status.
fn status(operation: Operation, before: Option<&ObjectRecord>, problems: &Diagnostics) -> ObjectStatus {
    match (operation, before) {
        (Operation::Create, _) if problems.has_errors() => ObjectStatus::Tainted,
        (Operation::Update | Operation::Delete, Some(before)) => before.status,
        _ => ObjectStatus::Ready,
    }
}
