//! Steps that change objects: what they start from, and what becomes of their results.

use std::sync::Arc;
use std::time::Instant;

use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_hcl::Body;
use groma_provider::{Applied, BodyDecoder};
use groma_state::{
    Dependencies, DeposedKey, ObjectRecord, ObjectStatus, Operation as Recorded, Outcome as RecordedOutcome,
};
use groma_value::Value;

use super::applier::Applier;
use super::event::{ChangeEvent, Event};
use super::talk::{Announcement, ApplyDone, ApplyTalk, Beginning};
use crate::evaluation::{outcome_of, repetition_of};
use crate::generate;
use crate::hooks::{Operation, Subject};
use crate::plan::{Action, ResourceChange};
use crate::planning::Ignore;
use crate::planning::managed::ignored;
use crate::provisioning::{self, Provision};
use crate::record::{self, Circumstances, Object};
use crate::templates::Template;
use crate::walk::Outcome;
use crate::world::InstanceScope;

/// A block evaluated for one change.
struct Evaluated {
    template: Arc<Template>,
    span: Span,
    config: Value,
    ignore: Ignore,
    dependencies: Dependencies,
}

impl Applier<'_> {
    fn change(&self, change: u32) -> &ResourceChange {
        &self.changes[change as usize]
    }

    /// Starts a creation or an update.
    pub(super) async fn make(&mut self, step: u32, change: u32, operation: Operation) {
        let (Some(provider), Some(evaluated)) = (self.provider_of(change), self.evaluate(change)) else {
            return self.end(step, Outcome::Failed);
        };
        let planned = self.change(change);
        let address = planned.address.clone();
        let before = match operation {
            Operation::Create => None,
            _ => self.state.object(&address, None).cloned(),
        };
        if planned.action == Action::CreateThenDelete && operation == Operation::Create && !self.depose(change) {
            return self.end(step, Outcome::Failed);
        }
        let planned = self.change(change);
        let subject = match operation {
            Operation::Create => Subject { address: address.clone(), deposed: None, identifier: None },
            _ => Subject::of(&address, None, &planned.before),
        };
        let talk = Box::new(ApplyTalk {
            address,
            deposed: None,
            provider,
            provider_config: planned.provider.clone(),
            schema: Arc::clone(&planned.schema),
            body: Some(Arc::clone(&evaluated.template.body)),
            span: evaluated.span,
            operation: if operation == Operation::Create { Recorded::Create } else { Recorded::Update },
            record: before.clone(),
            config: evaluated.config,
            initial: planned.after.clone(),
            planned_private: Arc::clone(&planned.planned_private),
            ignore: evaluated.ignore,
            dependencies: evaluated.dependencies,
            create_before_destroy: planned.create_before_destroy,
            recorder: Arc::clone(&self.recorder),
            announcement: Some(Announcement { hooks: Arc::clone(&self.session.hooks), subject, operation }),
        });
        self.carry_out(step, change, operation, before, (Vec::new(), talk)).await;
    }

    /// Starts a deletion.
    pub(super) async fn delete(&mut self, step: u32, change: u32) {
        let planned = self.change(change);
        let address = planned.address.clone();
        let deposed = planned.deposed.clone().or_else(|| self.deposed.get(&change).cloned());
        // A replacement whose first half failed has nothing to delete.
        let Some(before) = self.state.object(&address, deposed.as_ref()).cloned() else {
            return self.end(step, Outcome::Done);
        };
        let first = self.destruction_provisions(change, deposed.as_ref(), &before);
        let (Some(provider), Some(first)) = (self.provider_of(change), first) else {
            return self.end(step, Outcome::Failed);
        };
        let planned = self.change(change);
        self.session.hooks.apply_start(&Subject::of(&address, deposed.clone(), &planned.before), Operation::Delete);
        let talk = Box::new(ApplyTalk {
            address,
            deposed: deposed.clone(),
            provider,
            provider_config: planned.provider.clone(),
            schema: Arc::clone(&planned.schema),
            body: None,
            span: Span::NONE,
            operation: Recorded::Delete,
            record: Some(Arc::clone(&before)),
            config: planned.schema.block.null_value(),
            initial: planned.schema.block.null_value(),
            // The second half of a replacement was planned with the first: its bytes are not for this.
            planned_private: if planned.action == Action::Delete {
                Arc::clone(&planned.planned_private)
            } else {
                Arc::clone(&before.private)
            },
            ignore: Ignore::Nothing,
            dependencies: before.dependencies.clone(),
            create_before_destroy: before.create_before_destroy,
            recorder: Arc::clone(&self.recorder),
            announcement: None,
        });
        self.carry_out(step, change, Operation::Delete, Some(before), (first, talk)).await;
    }

    async fn carry_out(
        &mut self,
        step: u32,
        change: u32,
        operation: Operation,
        before: Option<Arc<ObjectRecord>>,
        (first, talk): (Vec<Provision>, Box<ApplyTalk>),
    ) {
        let started = Instant::now();
        let deposed = talk.deposed.clone();
        let (hooks, cancellation) = (Arc::clone(&self.session.hooks), self.session.cancellation.clone());
        let talk = async move {
            let problems = match first.is_empty() {
                true => Diagnostics::new(),
                false => provisioning::carry_out(first, talk.address.clone(), hooks, cancellation).await,
            };
            let done = if problems.has_errors() {
                ApplyDone { applied: None, beginning: Beginning::Told, diagnostics: problems }
            } else {
                talk.hold().await
            };
            Event::Change(Box::new(ChangeEvent { change, deposed, operation, before, started, done }))
        };
        self.talk(step, talk).await;
    }

    fn evaluate(&mut self, change: u32) -> Option<Evaluated> {
        let address = self.change(change).address.clone();
        let Some((module, resource, position)) = self.place(change) else { return self.written(change) };
        let index = self.world.module(module).of;
        let template = self.prepared.templates.resource(index, resource).cloned()?;
        let config = Arc::clone(&self.world.static_module(module).config);
        let (_, block) = config.resources.get_index(resource as usize)?;
        let node = self.world.static_module(module).resource(resource as usize);
        let dependencies = self.ancestors.of(index, node);
        let repetition = repetition_of(&self.world, module, resource, position);
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(&repetition);
        let lifecycle = &block.lifecycle;
        let status = self.evaluation.preconditions(lifecycle, &address, &scope);
        if outcome_of(status) == Outcome::Failed {
            return None;
        }
        let value = self.evaluation.instance(&template.body, &address, &scope)?;
        if let Some(problem) = self.still_unknown(change, &template, &value) {
            self.evaluation.diagnostics.push(problem);
            return None;
        }
        let ignore = ignored(&mut self.evaluation, &lifecycle.ignore_changes, &scope);
        Some(Evaluated { template, span: block.header_span, config: value, ignore, dependencies })
    }

    /// A block that was written for an import while planning, which the configuration does not have yet.
    fn written(&self, change: u32) -> Option<Evaluated> {
        let planned = self.change(change);
        planned.importing.as_ref()?.generated.as_ref()?;
        let block = &planned.schema.block;
        let (body, _) = BodyDecoder::new(&Body::new(Vec::new(), Vec::new(), Span::NONE), block);
        let template = Template {
            schema: Arc::clone(&planned.schema),
            body: Arc::new(body),
            provider: Arc::clone(&planned.provider),
        };
        // What the provider fills in by itself is not known before, and not written.
        let config = generate::config_of(block, &planned.after).transform(|_, value| match value.is_known() {
            true => value,
            false => Value::null(value.ty().clone()),
        });
        let (ignore, dependencies) = (Ignore::Nothing, Dependencies::default());
        Some(Evaluated { template: Arc::new(template), span: Span::NONE, config, ignore, dependencies })
    }

    /// By now everything is known; what is not shows a bug, and must not reach a provider.
    fn still_unknown(&self, change: u32, template: &Template, value: &Value) -> Option<Diagnostic> {
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
            self.change(change).address
        );
        Some(Diagnostic::error("Configuration contains unknown value", detail).at(span))
    }

    /// Makes the current object a deposed one (PL-10), in the state and in the journal.
    fn depose(&mut self, change: u32) -> bool {
        let (address, provider) = (self.change(change).address.clone(), self.change(change).provider.clone());
        let Some(record) = self.state.object(&address, None).cloned() else { return true };
        let Some(key) = self.state.depose(&address) else { return true };
        let noted = self
            .recorder
            .finished(&address, Some(&key), &provider, None, RecordedOutcome::Present(Arc::clone(&record)))
            .and_then(|()| self.recorder.finished(&address, None, &provider, Some(&record), RecordedOutcome::Gone));
        self.deposed.insert(change, key.clone());
        match noted {
            Ok(()) => true,
            Err(problem) => {
                self.state.restore(&address, &key);
                self.evaluation.diagnostics.push(problem);
                false
            }
        }
    }

    pub(super) fn forget(&mut self, change: u32) -> Outcome {
        let planned = self.change(change);
        let (address, deposed, provider) = (planned.address.clone(), planned.deposed.clone(), planned.provider.clone());
        let before = self.state.remove(&address, deposed.as_ref());
        let noted =
            self.recorder.finished(&address, deposed.as_ref(), &provider, before.as_deref(), RecordedOutcome::Gone);
        match noted {
            Ok(()) => Outcome::Done,
            Err(problem) => {
                self.evaluation.diagnostics.push(problem);
                Outcome::Failed
            }
        }
    }

    /// Takes in what came of a change.
    ///
    /// There is no outcome yet when provisioners follow.
    pub(super) fn changed(&mut self, step: u32, event: ChangeEvent) -> Option<Outcome> {
        let ChangeEvent { change, deposed, operation, before, started, done } = event;
        let address = self.change(change).address.clone();
        let elapsed = started.elapsed();
        let is_made = done.applied.as_ref().is_some_and(|applied| !applied.state.is_null());
        if operation == Operation::Create && is_made && !done.diagnostics.has_errors() && self.is_provisioned(change) {
            return self.provision(step, change, deposed.as_ref(), done, started);
        }
        let hooks = Arc::clone(&self.session.hooks);
        let ApplyDone { applied, beginning, diagnostics: mut problems } = done;
        let value = applied.as_ref().map(|applied| applied.state.clone());
        match applied {
            Some(applied) => {
                let status = status(operation, before.as_deref(), &problems);
                let recorded = self.record(change, deposed.as_ref(), operation, before.as_deref(), applied, status);
                problems.extend(recorded.err());
            }
            // The provider was never asked: what was deposed for it is current again.
            None => self.restore(change),
        }
        let failed = problems.has_errors();
        if beginning == Beginning::Untold {
            // Nothing was left to change, or the provider refused before it was asked to.
        } else if failed {
            let known = self.change(change).before.clone();
            hooks.apply_errored(&Subject::of(&address, deposed, &known), operation, &problems, elapsed);
        } else if let Some(value) = &value {
            // What people know the object by is in the value.
            let subject = Subject { address, deposed, identifier: None };
            hooks.apply_complete(&subject, operation, value, elapsed);
            self.count(operation);
        }
        self.evaluation.diagnostics.append(problems);
        if failed {
            return Some(Outcome::Failed);
        }
        Some(match (operation, value) {
            (Operation::Create | Operation::Update, Some(value)) => {
                self.settle(change, value.clone());
                self.postconditions(change, &value)
            }
            _ => Outcome::Done,
        })
    }

    pub(super) fn count(&mut self, operation: Operation) {
        match operation {
            Operation::Create => self.done.added += 1,
            Operation::Update => self.done.changed += 1,
            Operation::Delete => self.done.destroyed += 1,
            Operation::Read => {}
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
        let planned = self.change(change);
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
        let circumstances = match operation {
            Operation::Delete => Circumstances {
                status,
                dependencies: before.map(|record| record.dependencies.clone()).unwrap_or_default(),
                create_before_destroy: before.is_some_and(|record| record.create_before_destroy),
            },
            Operation::Create | Operation::Update | Operation::Read => Circumstances {
                status,
                dependencies: self.dependencies(change),
                create_before_destroy: self.change(change).create_before_destroy,
            },
        };
        let object = Object { value: applied.state, private: applied.private, identity: applied.identity };
        let record = record::encode(&schema, &object, circumstances)
            .map_err(|problem| record::unrecordable(&address, &problem))
            .map(Arc::new)?;
        let outcome = RecordedOutcome::Present(Arc::clone(&record));
        let noted = self.recorder.finished(&address, deposed, &provider, before, outcome);
        self.state.insert(&address, deposed, &provider, record);
        noted
    }

    fn dependencies(&self, change: u32) -> Dependencies {
        let Some((module, resource, _)) = self.place(change) else { return Dependencies::default() };
        let index = self.world.module(module).of;
        let node = self.world.static_module(module).resource(resource as usize);
        self.ancestors.of(index, node)
    }

    /// A replacement that could not be created leaves the old object current (PL-10).
    fn restore(&mut self, change: u32) {
        let Some(key) = self.deposed.remove(&change) else { return };
        let (address, provider) = (self.change(change).address.clone(), self.change(change).provider.clone());
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

/// A creation that failed with an object leaves it tainted (LC-16); what was not made anew stays as it was.
fn status(operation: Operation, before: Option<&ObjectRecord>, problems: &Diagnostics) -> ObjectStatus {
    match (operation, before) {
        (Operation::Create, _) if problems.has_errors() => ObjectStatus::Tainted,
        (Operation::Update | Operation::Delete, Some(before)) => before.status,
        _ => ObjectStatus::Ready,
    }
}
