//! Processing of results: into the journal, the state and the values of the module instances.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_provider::Applied;
use groma_state::{Dependencies, DeposedKey, ObjectRecord, ObjectStatus, Outcome as RecordedOutcome};
use groma_value::Value;

use super::applier::Applier;
use super::clerk::Entry;
use super::event::ChangeEvent;
use super::talk::{ApplyDone, Beginning, CallEnd};
use super::unanswered_calls::explain_unanswered_call;
use crate::config_graph::{ModuleIndex, NodeIndex};
use crate::hooks::{Operation, Subject};
use crate::record::{self, Circumstances, Object};
use crate::walk::Outcome;

impl Applier<'_> {
    /// Takes in what came of a change.
    ///
    /// There is no outcome yet when provisioners follow.
    pub(super) fn changed(&mut self, step: u32, event: ChangeEvent) -> Option<Outcome> {
        let ChangeEvent { change, deposed, operation, before, started, elapsed, done } = event;
        let is_good = !done.diagnostics.has_errors();
        let is_made = done.applied.as_ref().is_some_and(|applied| !applied.state.is_null());
        if operation == Operation::Create && is_made && is_good && self.is_provisioned(change) {
            return self.provision(step, change, deposed.as_ref(), done, started);
        }
        let event = ChangeEvent { change, deposed, operation, before, started, elapsed, done };
        Some(match event.done.beginning {
            Beginning::LeftToClerk if is_good => self.hand_in(event),
            _ => self.take_down(event),
        })
    }

    /// Hands a result to the background writer.
    fn hand_in(&mut self, event: ChangeEvent) -> Outcome {
        let ChangeEvent { change, deposed, operation, before, elapsed, done, .. } = event;
        self.evaluation.diagnostics.append(done.diagnostics);
        let Some(applied) = done.applied else { return Outcome::Done };
        let value = applied.state.clone();
        let node = self.node(change);
        let planned = &self.changes[change as usize];
        if value.is_null() {
            self.state.remove(&planned.address, deposed.as_ref());
        }
        self.clerk.take(Entry {
            operation,
            address: planned.address.clone(),
            deposed,
            provider: planned.provider.clone(),
            schema: Arc::clone(&planned.schema),
            before: (planned.before.clone(), before),
            object: Object { value: applied.state, private: applied.private, identity: applied.identity },
            node,
            create_before_destroy: planned.create_before_destroy,
            is_kept: self.kept.contains(&change),
            elapsed,
        });
        self.settle_changed(change, operation, value)
    }

    /// Takes down and tells what came of a change.
    fn take_down(&mut self, event: ChangeEvent) -> Outcome {
        let ChangeEvent { change, deposed, operation, before, elapsed, done, .. } = event;
        let ApplyDone { applied, beginning, end, diagnostics: mut problems, .. } = done;
        let hooks = Arc::clone(&self.session.hooks);
        let (address, known) = (self.changes[change as usize].address.clone(), &self.changes[change as usize].before);
        let subject = Subject::begun(operation, &address, deposed.clone(), known);
        if beginning == Beginning::LeftToClerk {
            // It did not come to a good end, which is not for the clerk to tell.
            self.clerk_has_caught_up();
            hooks.apply_start(&subject, operation);
        }
        let value = applied.as_ref().map(|applied| applied.state.clone());
        let is_begun = !matches!(end, CallEnd::NotBegun);
        match &end {
            CallEnd::Known => {}
            CallEnd::Lost(begin, repeatable) => explain_unanswered_call(&mut problems, begin, *repeatable),
            CallEnd::NotBegun => {
                let planned = &self.changes[change as usize];
                self.not_begun.note(&planned.provider.provider, &address, operation, std::mem::take(&mut problems));
            }
        }
        match (applied, end) {
            // Nobody knows whether there is an object: the journal keeps the call, and the next run asks after it.
            (Some(applied), CallEnd::Lost(begin, _)) if operation == Operation::Create && applied.state.is_null() => {
                self.restore(change);
                // That the object before is current again has settled the call in the journal.
                problems.extend(self.recorder.begin(&begin).err());
            }
            (Some(applied), _) => {
                let status = status(operation, before.as_deref(), &problems);
                let recorded = self.record(change, deposed.as_ref(), operation, before.as_deref(), applied, status);
                problems.extend(recorded.err());
            }
            // The provider was never asked: what was deposed for it is current again.
            (None, _) => self.restore(change),
        }
        let failed = !is_begun || problems.has_errors();
        if beginning == Beginning::Untold {
            // Nothing was left to change, or the provider refused before it was asked to.
        } else if failed {
            hooks.apply_errored(&subject, operation, &problems, elapsed);
        } else if let Some(value) = &value {
            // What people know the object by is in the value.
            hooks.apply_complete(&Subject { identifier: None, ..subject }, operation, value, elapsed);
            self.done.count(operation);
        }
        self.evaluation.diagnostics.append(problems);
        match value {
            _ if failed => Outcome::Failed,
            Some(value) => self.settle_changed(change, operation, value),
            None => Outcome::Done,
        }
    }

    /// Gives what depends on it the new value, which is held against the postconditions.
    fn settle_changed(&mut self, change: u32, operation: Operation, value: Value) -> Outcome {
        match operation {
            Operation::Create | Operation::Update => {
                self.settle(change, value.clone());
                self.postconditions(change, &value)
            }
            Operation::Delete | Operation::Read => Outcome::Done,
        }
    }

    /// Writes the result to the journal and the state (LC-16, LC-18).
    ///
    /// # Errors
    ///
    /// It could not be written down: the operation has not come to a good end, whatever the provider said.
    #[allow(clippy::result_large_err, reason = "a failing disk ends the run")]
    pub(super) fn record(
        &mut self,
        change: u32,
        deposed: Option<&DeposedKey>,
        operation: Operation,
        before: Option<&ObjectRecord>,
        applied: Applied,
        status: ObjectStatus,
    ) -> Result<(), Diagnostic> {
        let planned = &self.changes[change as usize];
        let (address, provider, schema) =
            (planned.address.clone(), planned.provider.clone(), Arc::clone(&planned.schema));
        if applied.state.is_null() {
            self.state.remove(&address, deposed);
            let noted = self.recorder.finished(&address, deposed, &provider, before, RecordedOutcome::Gone);
            if operation == Operation::Create {
                self.restore(change);
            }
            return noted;
        }
        let circumstances = self.circumstances(change, operation, before, status);
        let object = Object { value: applied.state, private: applied.private, identity: applied.identity };
        let record = record::encode(&schema, &object, circumstances)
            .map_err(|problem| record::unrecordable(&address, &problem))
            .map(Arc::new)?;
        let outcome = RecordedOutcome::Present(Arc::clone(&record));
        let noted = self.recorder.finished(&address, deposed, &provider, before, outcome);
        self.state.insert(&address, deposed, &provider, record);
        noted
    }

    /// Returns the metadata to record with an object. An object that a failed deletion left keeps its former metadata.
    fn circumstances(
        &self,
        change: u32,
        operation: Operation,
        before: Option<&ObjectRecord>,
        status: ObjectStatus,
    ) -> Circumstances {
        match operation {
            Operation::Delete => Circumstances { status, ..before.map(Circumstances::of).unwrap_or_default() },
            Operation::Create | Operation::Update | Operation::Read => Circumstances {
                status,
                dependencies: self.dependencies(change),
                create_before_destroy: self.changes[change as usize].create_before_destroy,
                is_kept: self.kept.contains(&change),
            },
        }
    }

    /// Returns the recorded dependencies of a change's resource.
    pub(super) fn dependencies(&self, change: u32) -> Dependencies {
        self.node(change).map(|(module, node)| self.prepared.graph.ancestors().of(module, node)).unwrap_or_default()
    }

    fn node(&self, change: u32) -> Option<(ModuleIndex, NodeIndex)> {
        let (module, resource, _) = self.place(change)?;
        Some((self.world.module(module).of, self.world.static_module(module).resource(resource as usize)))
    }

    /// A replacement that could not be created leaves the old object current (PL-10).
    fn restore(&mut self, change: u32) {
        let Some(key) = self.deposed.remove(&change) else { return };
        let (address, provider) =
            (self.changes[change as usize].address.clone(), self.changes[change as usize].provider.clone());
        let record = self.state.object(&address, Some(&key)).cloned();
        if let Some(record) = record
            && self.state.restore(&address, &key)
        {
            let noted = self
                .recorder
                .finished(&address, None, &provider, None, RecordedOutcome::Present(Arc::clone(&record)))
                .and_then(|()| {
                    self.recorder.finished(&address, Some(&key), &provider, Some(&record), RecordedOutcome::Gone)
                });
            self.evaluation.diagnostics.extend(noted.err());
        }
    }
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
