//! Steps that change objects: what they start from, and what becomes of their results.

use std::sync::Arc;
use std::time::Instant;

use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_hcl::Body;
use groma_plan::Action;
use groma_provider::BodyDecoder;
use groma_state::{Dependencies, ObjectRecord, ObjectStatus, Operation as Recorded};
use groma_value::Value;

use super::applier::Applier;
use super::apply_call::{Announcement, ApplyCall, ApplyCallResult, Beginning, CallEnd, Notice};
use super::event::{ChangeEvent, Event};
use super::inputs::Inputs;
use super::provisioners;
use super::recording::Recording;
use super::results;
use super::values;
use crate::call_target::CallTarget;
use crate::call_target::no_meta;
use crate::cancel::Cancellation;
use crate::evaluation::{Evaluation, outcome_of, repetition_of};
use crate::generate;
use crate::hooks::{Hooks, Operation, Subject};
use crate::planning::{Ignore, evaluate_ignore_changes};
use crate::provider_calls::Continuation;
use crate::provisioning::{self, Provision};
use crate::record::Circumstances;
use crate::templates::{Template, Validity};
use crate::walk::Outcome;
use crate::world::InstanceScope;

/// The evaluated block of a changed object.
struct Evaluated {
    template: Arc<Template>,
    span: Span,
    config: Value,
    ignore: Ignore,
}

/// A change to apply, with the provisioners that precede it.
struct PendingChange {
    change: u32,
    operation: Operation,
    before: Option<Arc<ObjectRecord>>,
    /// Provisioners to run before the object is destroyed.
    first: Vec<Provision>,
    call: Box<ApplyCall>,
}

impl PendingChange {
    async fn see_through(self, hooks: Arc<dyn Hooks>, cancellation: Cancellation) -> ChangeEvent {
        let Self { change, operation, before, first, call } = self;
        let started = Instant::now();
        let deposed = call.target.deposed.clone();
        call.announce_at_once();
        let problems = match first.is_empty() {
            true => Diagnostics::new(),
            false => provisioning::carry_out(first, call.target.address.clone(), hooks, cancellation).await,
        };
        // Destroy-time provisioners that fail keep the object: the deletion was not requested yet.
        let done = if problems.has_errors() {
            let end = CallEnd::Known;
            ApplyCallResult { applied: None, beginning: Beginning::Reported, started: None, end, diagnostics: problems }
        } else {
            call.run().await
        };
        let started = done.started.unwrap_or(started);
        // Measured here: the walk may be busy before it processes the event.
        let elapsed = started.elapsed();
        ChangeEvent { change, deposed, operation, before, started, elapsed, done }
    }
}

/// Starts a creation or an update.
pub(super) async fn make(applier: &mut Applier<'_>, step: u32, change: u32, operation: Operation) {
    let (Some(provider), Some(evaluated)) = (
        values::provider_of(&applier.inputs, applier.providers, &mut applier.evaluation, change),
        evaluate(applier, change),
    ) else {
        return applier.end(step, Outcome::Failed);
    };
    let planned = applier.inputs.change(change);
    let address = planned.address.clone();
    // The record of this moment: an earlier step of the run may have replaced the planned one.
    let before = match operation {
        Operation::Create => None,
        _ => applier.recording.object(&address, None).cloned(),
    };
    let is_provisioned =
        operation == Operation::Create && provisioners::is_provisioned(&applier.inputs, &applier.world, change);
    let (announcement, dependencies) = match provider.is_pure() && !is_provisioned {
        // It also finds out what the object depends on.
        true => (Announcement::LeftToWriter, Dependencies::default()),
        // An impure call is an external effect: results that it may depend on must be recorded first.
        false if applier.results_are_written() => {
            let subject = Subject::begun(operation, &address, None, &applier.inputs.change(change).before);
            let notice = Notice { hooks: Arc::clone(&applier.inputs.session().hooks), subject, operation };
            (Announcement::Due(notice), results::dependencies(&applier.inputs, &applier.world, change))
        }
        false => return applier.end(step, Outcome::Failed),
    };
    // The old object becomes deposed before the creation, so that a killed run knows both (PL-10).
    if operation == Operation::Create
        && deposes(&applier.inputs, change)
        && !depose(&applier.inputs, &mut applier.evaluation, &mut applier.recording, change)
    {
        return applier.end(step, Outcome::Failed);
    }
    let planned = applier.inputs.change(change);
    let call = Box::new(ApplyCall {
        target: CallTarget {
            address,
            deposed: None,
            provider,
            schema: Arc::clone(&planned.schema),
            body: Some(Arc::clone(&evaluated.template.body)),
            span: evaluated.span,
            meta: evaluated.template.meta.clone(),
        },
        provider_config: planned.provider.clone(),
        operation: if operation == Operation::Create { Recorded::Create } else { Recorded::Update },
        record: before.clone(),
        config: evaluated.config,
        initial: planned.after.clone(),
        planned_private: Arc::clone(&planned.planned_private),
        ignore: evaluated.ignore,
        circumstances: Circumstances {
            // Until its provisioners have succeeded, the object counts as tainted, so that a killed run replaces it.
            status: match (is_provisioned, &before) {
                (true, _) => ObjectStatus::Tainted,
                (false, Some(before)) => before.status,
                (false, None) => ObjectStatus::Ready,
            },
            dependencies,
            create_before_destroy: planned.create_before_destroy,
            is_kept: applier.recording.is_kept(change),
        },
        recorder: Arc::clone(applier.recording.recorder()),
        announcement,
    });
    // Provisioners are part of the step, so its place among the calls in flight is kept for them.
    let continuation = if is_provisioned { Continuation::Further } else { Continuation::Nothing };
    let pending = PendingChange { change, operation, before, first: Vec::new(), call };
    carry_out(applier, step, pending, continuation).await;
}

/// Starts the deletion of the object of `change`.
pub(super) async fn delete(applier: &mut Applier<'_>, step: u32, change: u32) {
    let planned = applier.inputs.change(change);
    let address = planned.address.clone();
    // The second half of a create-first replacement deletes the object under the key that the first half gave it.
    let deposed = planned.deposed.clone().or_else(|| applier.recording.deposed_by(change).cloned());
    // A replacement whose first half failed has nothing to delete.
    let Some(before) = applier.recording.object(&address, deposed.as_ref()).cloned() else {
        return applier.end(step, Outcome::Done);
    };
    let first = provisioners::destruction_provisions(
        &applier.inputs,
        &applier.world,
        &mut applier.evaluation,
        change,
        deposed.as_ref(),
        &before,
    );
    // Both are computed before either is tested, so that all problems are reported at once.
    let (Some(provider), Some(first)) =
        (values::provider_of(&applier.inputs, applier.providers, &mut applier.evaluation, change), first)
    else {
        return applier.end(step, Outcome::Failed);
    };
    let announcement = match provider.is_pure() && first.is_empty() {
        true => Announcement::LeftToWriter,
        false if applier.results_are_written() => {
            let subject = Subject::of(&address, deposed.clone(), &applier.inputs.change(change).before);
            let hooks = Arc::clone(&applier.inputs.session().hooks);
            Announcement::AtOnce(Notice { hooks, subject, operation: Operation::Delete })
        }
        false => return applier.end(step, Outcome::Failed),
    };
    let planned = applier.inputs.change(change);
    let call = Box::new(ApplyCall {
        target: CallTarget {
            address,
            deposed: deposed.clone(),
            provider,
            schema: Arc::clone(&planned.schema),
            // A deletion evaluates no block; its block may no longer exist.
            body: None,
            span: Span::NONE,
            meta: no_meta(),
        },
        provider_config: planned.provider.clone(),
        operation: Recorded::Delete,
        record: Some(Arc::clone(&before)),
        config: planned.schema.block.null_value(),
        initial: planned.schema.block.null_value(), // The second half of a replacement was planned with the first: its bytes are not for this.
        planned_private: if planned.action == Action::Delete {
            Arc::clone(&planned.planned_private)
        } else {
            Arc::clone(&before.private)
        },
        ignore: Ignore::Nothing,
        circumstances: Circumstances::of(&before),
        recorder: Arc::clone(applier.recording.recorder()),
        announcement,
    });
    let pending = PendingChange { change, operation: Operation::Delete, before: Some(before), first, call };
    carry_out(applier, step, pending, Continuation::Nothing).await;
}

async fn carry_out(applier: &mut Applier<'_>, step: u32, pending: PendingChange, continuation: Continuation) {
    let (hooks, cancellation) =
        (Arc::clone(&applier.inputs.session().hooks), applier.inputs.session().cancellation.clone());
    let call = async move { Event::Change(Box::new(pending.see_through(hooks, cancellation).await)) };
    applier.begin_call(step, call, continuation).await;
}

/// Whether a change creates a replacement while what it replaces is still there.
pub(super) fn deposes(inputs: &Inputs<'_>, change: u32) -> bool {
    inputs.change(change).action == Action::CreateThenDelete
}

fn evaluate(applier: &mut Applier<'_>, change: u32) -> Option<Evaluated> {
    let address = applier.inputs.change(change).address.clone();
    // Only a block that was generated for an import has no instance in the configuration.
    let Some((module, resource, position)) = applier.inputs.instance(change) else {
        return generated_block(&applier.inputs, change);
    };
    let index = applier.world.module(module).of;
    let template = applier.inputs.templates().resource(index, resource).cloned()?;
    let config = Arc::clone(&applier.world.static_module(module).config);
    let (_, block) = config.resources.get_index(resource as usize)?;
    let repetition = repetition_of(&applier.world, module, resource, position);
    let functions = Arc::clone(&applier.evaluation.functions);
    let scope = InstanceScope::new(&applier.world, module, &functions).repeated(&repetition);
    let lifecycle = &block.lifecycle;
    let status = applier.evaluation.preconditions(lifecycle, &address, &scope);
    // Preconditions may refer to values that were unknown while planning, so they are decided again (PL-27).
    if outcome_of(status) == Outcome::Failed {
        return None;
    }
    let value = applier.evaluation.instance(&template.body, &address, &scope)?;
    if let Some(problem) = still_unknown(&applier.inputs, change, &template, &value) {
        applier.evaluation.diagnostics.push(problem);
        return None;
    }
    let ignore = evaluate_ignore_changes(&mut applier.evaluation, &lifecycle.ignore_changes, &scope);
    // The argument `destroy` may become known only now; the record keeps it for a run without the block.
    if applier.evaluation.truth(lifecycle.destroy.as_ref(), &scope) == Some(false) {
        applier.recording.keep(change);
    }
    Some(Evaluated { template, span: block.body_start(), config: value, ignore })
}

/// Returns the evaluated form of a block that was generated for an import while planning. The configuration does not contain it yet.
fn generated_block(inputs: &Inputs<'_>, change: u32) -> Option<Evaluated> {
    let planned = inputs.change(change);
    planned.importing.as_ref()?.generated.as_ref()?;
    let block = &planned.schema.block;
    let (body, _) = BodyDecoder::new(&Body::new(Vec::new(), Vec::new(), Span::NONE), block);
    let template = Template {
        schema: Arc::clone(&planned.schema),
        body: Arc::new(body),
        validity: Validity::Valid,
        provider: Arc::clone(&planned.provider),
        key: None,
        meta: no_meta(),
    };
    // Values that the provider computes are unknown at plan time, and the generated block omits them.
    let config = generate::config_of(block, &planned.after).transform(|_, value| match value.is_known() {
        true => value,
        false => Value::null(value.ty().clone()),
    });
    Some(Evaluated { template: Arc::new(template), span: Span::NONE, config, ignore: Ignore::Nothing })
}

/// By now everything is known; what is not shows a bug, and must not reach a provider.
fn still_unknown(inputs: &Inputs<'_>, change: u32, template: &Template, value: &Value) -> Option<Diagnostic> {
    if value.is_wholly_known() {
        return None;
    }
    let mut span = Span::NONE;
    value.walk(|path, part| {
        if !part.is_known() && span.is_none() {
            span = template.body.span_of(path);
        }
        true
    });
    let detail = format!(
        "The configuration of {} still holds values that are not known, although everything it depends on is done. This is a \
         bug in Groma; please report it.",
        inputs.change(change).address
    );
    Some(Diagnostic::error("Configuration contains unknown value", detail).at(span))
}

/// Makes the current object a deposed one (PL-10), in the state and in the journal.
fn depose(inputs: &Inputs<'_>, evaluation: &mut Evaluation, recording: &mut Recording, change: u32) -> bool {
    match recording.depose(change, inputs.change(change)) {
        Ok(()) => true,
        Err(problem) => {
            evaluation.diagnostics.push(problem);
            false
        }
    }
}

pub(super) fn forget(
    inputs: &Inputs<'_>,
    evaluation: &mut Evaluation,
    recording: &mut Recording,
    change: u32,
) -> Outcome {
    match recording.forget(inputs.change(change)) {
        Ok(()) => Outcome::Done,
        Err(problem) => {
            evaluation.diagnostics.push(problem);
            Outcome::Failed
        }
    }
}
