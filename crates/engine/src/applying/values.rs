//! Steps that change nothing outside: expansions, provider configurations, conditions, data.

use std::sync::Arc;

use groma_address::{Name, ResourceInstance};
use groma_diagnostics::{Diagnostic, Span};
use groma_provider::{Checked, planned_unknown};
use groma_value::Value;

use super::applier::Applier;
use super::event::Event;
use super::inputs::Inputs;
use super::recording::Recording;
use crate::evaluation::{Evaluation, outcome_of, repetition_of};
use crate::options::Deferral;
use crate::providers::Providers;
use crate::read_call::{ReadCall, ReadResult};
use crate::record::{Circumstances, Object};
use crate::repetition::{Arguments, elements_again};
use crate::walk::Outcome;
use crate::world::{Expansion, InstanceScope, ModuleId, World};

pub(super) fn refill_call(world: &mut World, evaluation: &mut Evaluation, module: ModuleId, at: u32) -> Outcome {
    let config = Arc::clone(&world.static_module(module).config);
    let Some((_, call)) = config.calls.get_index(at as usize) else { return Outcome::Failed };
    let keys = keys_of(&world.module(module).calls[at as usize].expansion);
    let arguments = Arguments { for_each: call.for_each.as_ref(), ..Arguments::default() };
    let functions = Arc::clone(&evaluation.functions);
    let scope = InstanceScope::new(world, module, &functions);
    // The keys come from the plan; only the element values are evaluated again, since they may have been unknown.
    match elements_again(arguments, &keys, &scope, &mut evaluation.diagnostics) {
        Some(elements) => {
            world.refill_call(module, at, elements);
            Outcome::Done
        }
        None => Outcome::Failed,
    }
}

pub(super) fn refill_resource(world: &mut World, evaluation: &mut Evaluation, module: ModuleId, at: u32) -> Outcome {
    let config = Arc::clone(&world.static_module(module).config);
    let Some((_, resource)) = config.resources.get_index(at as usize) else { return Outcome::Failed };
    let keys = keys_of(&world.module(module).resources[at as usize].expansion);
    let arguments = Arguments { for_each: resource.for_each.as_ref(), ..Arguments::default() };
    let functions = Arc::clone(&evaluation.functions);
    let scope = InstanceScope::new(world, module, &functions);
    match elements_again(arguments, &keys, &scope, &mut evaluation.diagnostics) {
        Some(elements) => {
            world.refill_resource(module, at, elements);
            Outcome::Done
        }
        None => Outcome::Failed,
    }
}

/// Evaluates conditions of an unchanged instance, now that the values that they refer to are known.
pub(super) fn conditions(inputs: &Inputs<'_>, world: &World, evaluation: &mut Evaluation, change: u32) -> Outcome {
    let address = inputs.change(change).address.clone();
    let value = inputs.change(change).after.clone();
    let Some((module, resource, position)) = world.locate(&address) else { return Outcome::Done };
    let config = Arc::clone(&world.static_module(module).config);
    let Some((_, block)) = config.resources.get_index(resource as usize) else { return Outcome::Done };
    let repetition = repetition_of(world, module, resource, position);
    let functions = Arc::clone(&evaluation.functions);
    let scope = InstanceScope::new(world, module, &functions).repeated(&repetition);
    let before = outcome_of(evaluation.preconditions(&block.lifecycle, &address, &scope));
    // Both kinds are evaluated, so that all failed conditions are reported in one run.
    let after = postconditions(inputs, world, evaluation, change, &value);
    if before == Outcome::Done { after } else { before }
}

pub(super) fn provider_of(
    inputs: &Inputs<'_>,
    providers: &Providers,
    evaluation: &mut Evaluation,
    change: u32,
) -> Option<Arc<Checked>> {
    let planned = inputs.change(change);
    let found = providers.needed(&planned.provider, &planned.address, Span::NONE);
    // A provider that failed to be configured was reported once, so its users stay silent.
    found.map_err(|problem| evaluation.report_unless_failed(problem)).ok()
}

pub(super) async fn read(applier: &mut Applier<'_>, step: u32, change: u32) {
    let address = applier.inputs.change(change).address.clone();
    let (Some(provider), Some((module, resource, position))) = (
        provider_of(&applier.inputs, applier.providers, &mut applier.evaluation, change),
        applier.world.locate(&address),
    ) else {
        return applier.end(step, Outcome::Failed);
    };
    let index = applier.world.module(module).of;
    let Some(template) = applier.inputs.templates().resource(index, resource).cloned() else {
        return applier.end(step, Outcome::Failed);
    };
    let config = Arc::clone(&applier.world.static_module(module).config);
    let Some((_, block)) = config.resources.get_index(resource as usize) else {
        return applier.end(step, Outcome::Failed);
    };
    let repetition = repetition_of(&applier.world, module, resource, position);
    let functions = Arc::clone(&applier.evaluation.functions);
    let scope = InstanceScope::new(&applier.world, module, &functions).repeated(&repetition);
    let status = applier.evaluation.preconditions(&block.lifecycle, &address, &scope);
    if outcome_of(status) == Outcome::Failed {
        return applier.end(step, Outcome::Failed);
    }
    let Some(value) = applier.evaluation.instance(&template.body, &address, &scope) else {
        return applier.end(step, Outcome::Failed);
    };
    let subject = crate::hooks::Subject { address: address.clone(), deposed: None, identifier: None };
    let (schema, body) = (Arc::clone(&template.schema), Arc::clone(&template.body));
    let call = ReadCall {
        address,
        provider,
        schema,
        body,
        span: block.body.missing_item_span(),
        config: value,
        meta: template.meta.clone(),
        deferral: Deferral::Refused,
        hooks: Arc::clone(&applier.inputs.session().hooks),
    };
    let call = async move {
        call.hooks.apply_start(&subject, crate::hooks::Operation::Read);
        Event::Data(change, Box::new(call.run().await))
    };
    applier.start_call(step, call).await;
}

pub(super) fn data_read(applier: &mut Applier<'_>, change: u32, read: ReadResult) -> Outcome {
    let subject = crate::hooks::Subject { address: read.address.clone(), deposed: None, identifier: None };
    let elapsed = read.elapsed;
    let hooks = Arc::clone(&applier.inputs.session().hooks);
    // A data source in a check block never fails the run, so its problems go to the check (PL-27).
    if let Some((module, check)) = check_around(&applier.world, &read.address) {
        return checked_data_read(applier, change, module, &check, read);
    }
    let Some(value) = read.value else {
        hooks.apply_errored(&subject, crate::hooks::Operation::Read, &read.diagnostics, elapsed);
        // An unread data source fails its step, so that its dependents do not use an old value.
        applier.evaluation.diagnostics.append(read.diagnostics);
        return Outcome::Failed;
    };
    let mut problems = read.diagnostics;
    problems.extend(record_data(&applier.inputs, &mut applier.recording, change, &read.address, value.clone()).err());
    if problems.has_errors() {
        hooks.apply_errored(&subject, crate::hooks::Operation::Read, &problems, elapsed);
    } else {
        let subject = crate::hooks::Subject::of(&read.address, None, &value);
        hooks.apply_complete(&subject, crate::hooks::Operation::Read, &value, elapsed);
    }
    applier.settle(change, value.clone());
    // Postconditions are only decided for objects that could be recorded.
    match applier.report(problems) {
        Outcome::Done => postconditions(&applier.inputs, &applier.world, &mut applier.evaluation, change, &value),
        outcome => outcome,
    }
}

/// The check block that holds a data resource, if one does.
fn check_around(world: &World, address: &ResourceInstance) -> Option<(ModuleId, Name)> {
    let (module, resource, _) = world.locate(address)?;
    let config = &world.static_module(module).config;
    let check = config.resources.get_index(resource as usize)?.1.check.clone()?;
    Some((module, check))
}

/// A data source inside a check block was read: what is wrong with it is a result of the check (PL-27), and leaves the state as it is.
fn checked_data_read(
    applier: &mut Applier<'_>,
    change: u32,
    module: ModuleId,
    check: &str,
    read: ReadResult,
) -> Outcome {
    let ReadResult { address, config, value, diagnostics, elapsed, .. } = read;
    let value = value.filter(|_| !diagnostics.has_errors());
    applier.evaluation.checked_data(&applier.world, module, check, diagnostics);
    let Some(value) = value else {
        // References in the check see an unknown value, which makes its assertions unknown instead of wrong.
        applier.settle(change, planned_unknown(&applier.inputs.change(change).schema.block, &config));
        return Outcome::Done;
    };
    applier.settle(change, value.clone());
    if let Err(problem) = record_data(&applier.inputs, &mut applier.recording, change, &address, value.clone()) {
        applier.evaluation.diagnostics.push(problem);
        return Outcome::Failed;
    }
    let subject = crate::hooks::Subject::of(&address, None, &value);
    applier.inputs.session().hooks.apply_complete(&subject, crate::hooks::Operation::Read, &value, elapsed);
    postconditions(&applier.inputs, &applier.world, &mut applier.evaluation, change, &value)
}

/// Records the object that a data source returned in the journal and the state.
fn record_data(
    inputs: &Inputs<'_>,
    recording: &mut Recording,
    change: u32,
    address: &ResourceInstance,
    value: Value,
) -> Result<(), Diagnostic> {
    let object = Object { value, private: Arc::default(), identity: None };
    let before = recording.object(address, None).cloned();
    let planned = inputs.change(change);
    recording.record(planned, None, before.as_deref(), &object, Circumstances::default())
}

/// Postconditions of an instance with its new object.
pub(super) fn postconditions(
    inputs: &Inputs<'_>,
    world: &World,
    evaluation: &mut Evaluation,
    change: u32,
    value: &Value,
) -> Outcome {
    let Some(place) = inputs.instance(change) else { return Outcome::Done };
    let address = inputs.change(change).address.clone();
    outcome_of(evaluation.postconditions(world, place, &address, value))
}

fn keys_of(expansion: &Expansion) -> Vec<Name> {
    match expansion {
        Expansion::ForEach(elements) => elements.iter().map(|(key, _)| key.clone()).collect(),
        _ => Vec::new(),
    }
}
