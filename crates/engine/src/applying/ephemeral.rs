//! Ephemeral resources are opened again while applying: the plan contains nothing of them.

use std::sync::Arc;

use super::applier::Applier;
use super::event::{Event, OpenedInstances};
use super::values;
use crate::evaluation::{outcome_of, repetition_of};
use crate::hooks::EphemeralPhase;
use crate::options::Deferral;
use crate::provider_instances::Choice;
use crate::read_call::ReadCall;
use crate::walk::Outcome;
use crate::world::{Expansion, InstanceScope, ModuleId};

/// Opens all instances of an ephemeral resource.
pub(super) async fn open(applier: &mut Applier<'_>, step: u32, module: ModuleId, resource: u32) {
    let is_repeated =
        matches!(applier.world.module(module).resources[resource as usize].expansion, Expansion::ForEach(_));
    // The values of `each.value` may have been unknown when the plan was made.
    if is_repeated
        && values::refill_resource(&mut applier.world, &mut applier.evaluation, module, resource) == Outcome::Failed
    {
        return applier.end(step, Outcome::Failed);
    }
    let count = applier.world.module(module).resources[resource as usize].expansion.len();
    let mut calls = Vec::with_capacity(count);
    for position in 0..count {
        match opening(applier, module, resource, position) {
            Some(call) => calls.push((position, call)),
            // All instances are prepared before the first is opened, so that an error leaves nothing open.
            None => return applier.end(step, Outcome::Failed),
        }
    }
    let call = async move {
        let mut reads = Vec::with_capacity(calls.len());
        // One after the other, as one step: the number of calls in flight counts steps.
        for (position, call) in calls {
            call.hooks.ephemeral_start(&call.address, EphemeralPhase::Open);
            reads.push((position, call.run().await));
        }
        Event::Opened(Box::new(OpenedInstances { module, resource, reads }))
    };
    applier.start_call(step, call).await;
}

fn opening(applier: &mut Applier<'_>, module: ModuleId, resource: u32, position: usize) -> Option<ReadCall> {
    let index = applier.world.module(module).of;
    let template = applier.inputs.templates().resource(index, resource).cloned()?;
    let address = applier.world.instance_address(module, resource, position);
    let config = Arc::clone(&applier.world.static_module(module).config);
    let (_, block) = config.resources.get_index(resource as usize)?;
    let repetition = repetition_of(&applier.world, module, resource, position);
    let functions = Arc::clone(&applier.evaluation.functions);
    let scope = InstanceScope::new(&applier.world, module, &functions).repeated(&repetition);
    if outcome_of(applier.evaluation.preconditions(&block.lifecycle, &address, &scope)) == Outcome::Failed {
        return None;
    }
    let config = applier.evaluation.instance(&template.body, &address, &scope)?;
    let choice = Choice::of(&template, module, &repetition, &address);
    let manager = choice.manager(&applier.world, &mut applier.evaluation, applier.providers)?;
    let found = applier.providers.needed(&manager, &address, block.header_span);
    let provider = found.map_err(|problem| applier.evaluation.diagnostics.push(problem)).ok()?;
    let (schema, body) = (Arc::clone(&template.schema), Arc::clone(&template.body));
    // An apply cannot defer anything: the plan has already decided what it includes.
    let (span, meta, deferral) = (block.body.missing_item_span(), template.meta.clone(), Deferral::Refused);
    let hooks = Arc::clone(&applier.inputs.session().hooks);
    Some(ReadCall { address, provider, schema, body, span, config, meta, deferral, hooks })
}

/// Processes the opened instances: settles their values, and keeps them open until the end of the run.
pub(super) fn opened(applier: &mut Applier<'_>, event: OpenedInstances) -> Outcome {
    let OpenedInstances { module, resource, reads } = event;
    let mut outcome = Outcome::Done;
    for (position, read) in reads {
        applier.evaluation.diagnostics.append(read.diagnostics);
        // A resource that was opened must be closed, also if its result is invalid.
        read.open.into_iter().for_each(|open| applier.ephemerals.push(open));
        let hooks = Arc::clone(&applier.inputs.session().hooks);
        if read.value.is_some() {
            hooks.ephemeral_complete(&read.address, EphemeralPhase::Open, read.elapsed);
        } else {
            hooks.ephemeral_errored(&read.address, EphemeralPhase::Open, read.elapsed);
        }
        let Some(value) = read.value else {
            outcome = Outcome::Failed;
            continue;
        };
        applier.world.module_mut(module).resources[resource as usize].settle(position, value.clone());
        let key = (module, resource, position);
        let status = applier.evaluation.postconditions(&applier.world, key, &read.address, &value);
        if outcome_of(status) == Outcome::Failed {
            outcome = Outcome::Failed;
        }
    }
    outcome
}
