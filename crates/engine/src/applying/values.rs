//! Steps that change nothing outside: expansions, provider configurations, conditions, data.

use std::sync::Arc;

use groma_address::{Name, ResourceInstance};
use groma_diagnostics::{Diagnostic, Span};
use groma_provider::{Checked, planned_unknown};
use groma_state::Outcome as Recorded;
use groma_value::Value;

use super::applier::Applier;
use super::event::Event;
use crate::evaluation::{outcome_of, repetition_of};
use crate::options::Deferral;
use crate::plan::ResourceChange;
use crate::reading::{DataRead, DataTalk};
use crate::record::{self, Circumstances, Object};
use crate::repetition::{Arguments, elements_again};
use crate::walk::Outcome;
use crate::world::{Expansion, InstanceScope, ModuleId};

impl Applier<'_> {
    pub(super) fn refill_call(&mut self, module: ModuleId, at: u32) -> Outcome {
        let config = Arc::clone(&self.world.static_module(module).config);
        let Some((_, call)) = config.calls.get_index(at as usize) else { return Outcome::Failed };
        let keys = keys_of(&self.world.module(module).calls[at as usize].expansion);
        let arguments = Arguments { for_each: call.for_each.as_ref(), ..Arguments::default() };
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions);
        match elements_again(arguments, &keys, &scope, &mut self.evaluation.diagnostics) {
            Some(elements) => {
                self.world.refill_call(module, at, elements);
                Outcome::Done
            }
            None => Outcome::Failed,
        }
    }

    pub(super) fn refill_resource(&mut self, module: ModuleId, at: u32) -> Outcome {
        let config = Arc::clone(&self.world.static_module(module).config);
        let Some((_, resource)) = config.resources.get_index(at as usize) else { return Outcome::Failed };
        let keys = keys_of(&self.world.module(module).resources[at as usize].expansion);
        let arguments = Arguments { for_each: resource.for_each.as_ref(), ..Arguments::default() };
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions);
        match elements_again(arguments, &keys, &scope, &mut self.evaluation.diagnostics) {
            Some(elements) => {
                self.world.refill_resource(module, at, elements);
                Outcome::Done
            }
            None => Outcome::Failed,
        }
    }

    /// Evaluates conditions of an unchanged instance, now that the values that they refer to are known.
    pub(super) fn conditions(&mut self, change: u32) -> Outcome {
        let address = self.changes[change as usize].address.clone();
        let value = self.changes[change as usize].after.clone();
        let Some((module, resource, position)) = self.world.locate(&address) else { return Outcome::Done };
        let config = Arc::clone(&self.world.static_module(module).config);
        let Some((_, block)) = config.resources.get_index(resource as usize) else { return Outcome::Done };
        let repetition = repetition_of(&self.world, module, resource, position);
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(&repetition);
        let before = outcome_of(self.evaluation.preconditions(&block.lifecycle, &address, &scope));
        let after = self.postconditions(change, &value);
        if before == Outcome::Done { after } else { before }
    }

    pub(super) fn provider_of(&mut self, change: u32) -> Option<Arc<Checked>> {
        let planned = &self.changes[change as usize];
        let found = self.providers.needed(&planned.provider, &planned.address, Span::NONE);
        found.map_err(|problem| self.evaluation.tell_unless_failed(problem)).ok()
    }

    pub(super) async fn read(&mut self, step: u32, change: u32) {
        let address = self.changes[change as usize].address.clone();
        let (Some(provider), Some((module, resource, position))) =
            (self.provider_of(change), self.world.locate(&address))
        else {
            return self.end(step, Outcome::Failed);
        };
        let index = self.world.module(module).of;
        let Some(template) = self.prepared.templates.resource(index, resource).cloned() else {
            return self.end(step, Outcome::Failed);
        };
        let config = Arc::clone(&self.world.static_module(module).config);
        let Some((_, block)) = config.resources.get_index(resource as usize) else {
            return self.end(step, Outcome::Failed);
        };
        let repetition = repetition_of(&self.world, module, resource, position);
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(&repetition);
        let status = self.evaluation.preconditions(&block.lifecycle, &address, &scope);
        if outcome_of(status) == Outcome::Failed {
            return self.end(step, Outcome::Failed);
        }
        let Some(value) = self.evaluation.instance(&template.body, &address, &scope) else {
            return self.end(step, Outcome::Failed);
        };
        let subject = crate::hooks::Subject { address: address.clone(), deposed: None, identifier: None };
        let (schema, body) = (Arc::clone(&template.schema), Arc::clone(&template.body));
        let talk = DataTalk {
            address,
            provider,
            schema,
            body,
            span: block.body.missing_item_span(),
            config: value,
            meta: template.meta.clone(),
            deferral: Deferral::Refused,
            hooks: Arc::clone(&self.session.hooks),
        };
        let talk = async move {
            talk.hooks.apply_start(&subject, crate::hooks::Operation::Read);
            Event::Data(change, Box::new(talk.hold().await))
        };
        self.talk(step, talk).await;
    }

    pub(super) fn data_read(&mut self, change: u32, read: DataRead) -> Outcome {
        let subject = crate::hooks::Subject { address: read.address.clone(), deposed: None, identifier: None };
        let elapsed = read.elapsed;
        let hooks = Arc::clone(&self.session.hooks);
        if let Some((module, check)) = self.check_around(&read.address) {
            return self.checked_data_read(change, module, &check, read);
        }
        let Some(value) = read.value else {
            hooks.apply_errored(&subject, crate::hooks::Operation::Read, &read.diagnostics, elapsed);
            self.evaluation.diagnostics.append(read.diagnostics);
            return Outcome::Failed;
        };
        let mut problems = read.diagnostics;
        problems.extend(self.record_data(change, &read.address, value.clone()).err());
        if problems.has_errors() {
            hooks.apply_errored(&subject, crate::hooks::Operation::Read, &problems, elapsed);
        } else {
            let subject = crate::hooks::Subject::of(&read.address, None, &value);
            hooks.apply_complete(&subject, crate::hooks::Operation::Read, &value, elapsed);
        }
        self.settle(change, value.clone());
        match self.report(problems) {
            Outcome::Done => self.postconditions(change, &value),
            outcome => outcome,
        }
    }

    /// The check block that holds a data resource, if one does.
    fn check_around(&self, address: &ResourceInstance) -> Option<(ModuleId, Name)> {
        let (module, resource, _) = self.world.locate(address)?;
        let config = &self.world.static_module(module).config;
        let check = config.resources.get_index(resource as usize)?.1.check.clone()?;
        Some((module, check))
    }

    /// A data source inside a check block was read: what is wrong with it is a result of the check (PL-27), and leaves the state as it is.
    fn checked_data_read(&mut self, change: u32, module: ModuleId, check: &str, read: DataRead) -> Outcome {
        let DataRead { address, config, value, diagnostics, elapsed, .. } = read;
        let value = value.filter(|_| !diagnostics.has_errors());
        self.evaluation.checked_data(&self.world, module, check, diagnostics);
        let Some(value) = value else {
            self.settle(change, planned_unknown(&self.changes[change as usize].schema.block, &config));
            return Outcome::Done;
        };
        self.settle(change, value.clone());
        if let Err(problem) = self.record_data(change, &address, value.clone()) {
            self.evaluation.diagnostics.push(problem);
            return Outcome::Failed;
        }
        let subject = crate::hooks::Subject::of(&address, None, &value);
        self.session.hooks.apply_complete(&subject, crate::hooks::Operation::Read, &value, elapsed);
        self.postconditions(change, &value)
    }

    /// Records the object that a data source returned in the journal and the state.
    #[allow(clippy::result_large_err, reason = "a failing disk ends the run")]
    fn record_data(&mut self, change: u32, address: &ResourceInstance, value: Value) -> Result<(), Diagnostic> {
        let ResourceChange { schema, provider, .. } = &self.changes[change as usize];
        let object = Object { value, private: Arc::default(), identity: None };
        let record = record::encode(schema, &object, Circumstances::default())
            .map_err(|problem| record::unrecordable(address, &problem))
            .map(Arc::new)?;
        let before = self.state.object(address, None).cloned();
        let outcome = Recorded::Present(Arc::clone(&record));
        let noted = self.recorder.finished(address, None, provider, before.as_deref(), outcome);
        self.state.insert(address, None, provider, record);
        noted
    }

    /// Postconditions of an instance with its new object.
    pub(super) fn postconditions(&mut self, change: u32, value: &Value) -> Outcome {
        let Some(place) = self.place(change) else { return Outcome::Done };
        let address = self.changes[change as usize].address.clone();
        outcome_of(self.evaluation.postconditions(&self.world, place, &address, value))
    }
}

fn keys_of(expansion: &Expansion) -> Vec<Name> {
    match expansion {
        Expansion::ForEach(elements) => elements.iter().map(|(key, _)| key.clone()).collect(),
        _ => Vec::new(),
    }
}
