//! Ephemeral resources are opened again while applying: the plan contains nothing of them.

use std::sync::Arc;

use super::applier::Applier;
use super::event::{Event, OpenedInstances};
use crate::evaluation::{outcome_of, repetition_of};
use crate::hooks::EphemeralPhase;
use crate::options::Deferral;
use crate::provider_instances::Choice;
use crate::reading::DataTalk;
use crate::walk::Outcome;
use crate::world::{Expansion, InstanceScope, ModuleId};

impl Applier<'_> {
    /// Opens all instances of an ephemeral resource.
    pub(super) async fn open(&mut self, step: u32, module: ModuleId, resource: u32) {
        let is_repeated =
            matches!(self.world.module(module).resources[resource as usize].expansion, Expansion::ForEach(_));
        if is_repeated && self.refill_resource(module, resource) == Outcome::Failed {
            return self.end(step, Outcome::Failed);
        }
        let count = self.world.module(module).resources[resource as usize].expansion.len();
        let mut talks = Vec::with_capacity(count);
        for position in 0..count {
            match self.opening(module, resource, position) {
                Some(talk) => talks.push((position, talk)),
                None => return self.end(step, Outcome::Failed),
            }
        }
        let talk = async move {
            let mut reads = Vec::with_capacity(talks.len());
            for (position, talk) in talks {
                talk.hooks.ephemeral_start(&talk.address, EphemeralPhase::Open);
                reads.push((position, talk.hold().await));
            }
            Event::Opened(Box::new(OpenedInstances { module, resource, reads }))
        };
        self.talk(step, talk).await;
    }

    fn opening(&mut self, module: ModuleId, resource: u32, position: usize) -> Option<DataTalk> {
        let index = self.world.module(module).of;
        let template = self.prepared.templates.resource(index, resource).cloned()?;
        let address = self.world.instance_address(module, resource, position);
        let config = Arc::clone(&self.world.static_module(module).config);
        let (_, block) = config.resources.get_index(resource as usize)?;
        let repetition = repetition_of(&self.world, module, resource, position);
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(&repetition);
        if outcome_of(self.evaluation.preconditions(&block.lifecycle, &address, &scope)) == Outcome::Failed {
            return None;
        }
        let config = self.evaluation.instance(&template.body, &address, &scope)?;
        let choice = Choice::of(&template, module, &repetition, &address);
        let manager = choice.manager(&self.world, &mut self.evaluation, self.providers)?;
        let found = self.providers.needed(&manager, &address, block.header_span);
        let provider = found.map_err(|problem| self.evaluation.diagnostics.push(problem)).ok()?;
        let (schema, body) = (Arc::clone(&template.schema), Arc::clone(&template.body));
        let (span, meta, deferral) = (block.body.missing_item_span(), template.meta.clone(), Deferral::Refused);
        let hooks = Arc::clone(&self.session.hooks);
        Some(DataTalk { address, provider, schema, body, span, config, meta, deferral, hooks })
    }

    /// Takes in the values of what was opened.
    pub(super) fn opened(&mut self, event: OpenedInstances) -> Outcome {
        let OpenedInstances { module, resource, reads } = event;
        let mut outcome = Outcome::Done;
        for (position, read) in reads {
            self.evaluation.diagnostics.append(read.diagnostics);
            read.open.into_iter().for_each(|open| self.ephemerals.push(open));
            let hooks = Arc::clone(&self.session.hooks);
            if read.value.is_some() {
                hooks.ephemeral_complete(&read.address, EphemeralPhase::Open, read.elapsed);
            } else {
                hooks.ephemeral_errored(&read.address, EphemeralPhase::Open, read.elapsed);
            }
            let Some(value) = read.value else {
                outcome = Outcome::Failed;
                continue;
            };
            self.world.module_mut(module).resources[resource as usize].settle(position, value.clone());
            let place = (module, resource, position);
            let status = self.evaluation.postconditions(&self.world, place, &read.address, &value);
            if outcome_of(status) == Outcome::Failed {
                outcome = Outcome::Failed;
            }
        }
        outcome
    }
}
