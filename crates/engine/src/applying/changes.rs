//! Steps that change objects: what they start from, and what becomes of their results.

use std::sync::Arc;
use std::time::Instant;

use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_hcl::Body;
use groma_provider::BodyDecoder;
use groma_state::{Dependencies, ObjectRecord, ObjectStatus, Operation as Recorded, Outcome as RecordedOutcome};
use groma_value::Value;

use super::applier::Applier;
use super::event::{ChangeEvent, Event};
use super::talk::{Announcement, ApplyDone, ApplyTalk, Beginning, CallEnd, Notice};
use crate::cancel::Cancellation;
use crate::client::no_meta;
use crate::conversations::Sequel;
use crate::evaluation::{outcome_of, repetition_of};
use crate::generate;
use crate::hooks::{Hooks, Operation, Subject};
use crate::plan::{Action, ResourceChange};
use crate::planning::Ignore;
use crate::planning::ignored;
use crate::provisioning::{self, Provision};
use crate::record::Circumstances;
use crate::templates::{Fit, Template};
use crate::walk::Outcome;
use crate::world::InstanceScope;

/// A block evaluated for one change.
struct Evaluated {
    template: Arc<Template>,
    span: Span,
    config: Value,
    ignore: Ignore,
}

/// A change that is to be carried out.
struct Undertaking {
    change: u32,
    operation: Operation,
    before: Option<Arc<ObjectRecord>>,
    /// Provisioners to run before the object is destroyed.
    first: Vec<Provision>,
    talk: Box<ApplyTalk>,
}

impl Undertaking {
    async fn see_through(self, hooks: Arc<dyn Hooks>, cancellation: Cancellation) -> ChangeEvent {
        let Self { change, operation, before, first, talk } = self;
        let started = Instant::now();
        let deposed = talk.deposed.clone();
        talk.announce_at_once();
        let problems = match first.is_empty() {
            true => Diagnostics::new(),
            false => provisioning::carry_out(first, talk.address.clone(), hooks, cancellation).await,
        };
        let done = if problems.has_errors() {
            let end = CallEnd::Known;
            ApplyDone { applied: None, beginning: Beginning::Told, started: None, end, diagnostics: problems }
        } else {
            talk.hold().await
        };
        let started = done.started.unwrap_or(started);
        // Taken here: the walk may be busy before it takes the event in.
        let elapsed = started.elapsed();
        ChangeEvent { change, deposed, operation, before, started, elapsed, done }
    }
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
        let is_provisioned = operation == Operation::Create && self.is_provisioned(change);
        let (announcement, dependencies) = match provider.is_pure() && !is_provisioned {
            // It also finds out what the object depends on.
            true => (Announcement::LeftToClerk, Dependencies::default()),
            false if self.clerk_has_caught_up() => {
                let subject = Subject::begun(operation, &address, None, &self.change(change).before);
                let notice = Notice { hooks: Arc::clone(&self.session.hooks), subject, operation };
                (Announcement::Due(notice), self.dependencies(change))
            }
            false => return self.end(step, Outcome::Failed),
        };
        if operation == Operation::Create && self.deposes(change) && !self.depose(change) {
            return self.end(step, Outcome::Failed);
        }
        let planned = self.change(change);
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
            meta: evaluated.template.meta.clone(),
            initial: planned.after.clone(),
            planned_private: Arc::clone(&planned.planned_private),
            ignore: evaluated.ignore,
            circumstances: Circumstances {
                status: match (is_provisioned, &before) {
                    (true, _) => ObjectStatus::Tainted,
                    (false, Some(before)) => before.status,
                    (false, None) => ObjectStatus::Ready,
                },
                dependencies,
                create_before_destroy: planned.create_before_destroy,
                is_kept: self.kept.contains(&change),
            },
            recorder: Arc::clone(&self.recorder),
            announcement,
        });
        let sequel = if is_provisioned { Sequel::Further } else { Sequel::Nothing };
        let undertaking = Undertaking { change, operation, before, first: Vec::new(), talk };
        self.carry_out(step, undertaking, sequel).await;
    }

    /// Starts the deletion of the object of `change`.
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
        let announcement = match provider.is_pure() && first.is_empty() {
            true => Announcement::LeftToClerk,
            false if self.clerk_has_caught_up() => {
                let subject = Subject::of(&address, deposed.clone(), &self.change(change).before);
                let hooks = Arc::clone(&self.session.hooks);
                Announcement::AtOnce(Notice { hooks, subject, operation: Operation::Delete })
            }
            false => return self.end(step, Outcome::Failed),
        };
        let planned = self.change(change);
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
            meta: no_meta(),
            initial: planned.schema.block.null_value(),
            // The second half of a replacement was planned with the first: its bytes are not for this.
            planned_private: if planned.action == Action::Delete {
                Arc::clone(&planned.planned_private)
            } else {
                Arc::clone(&before.private)
            },
            ignore: Ignore::Nothing,
            circumstances: Circumstances::of(&before),
            recorder: Arc::clone(&self.recorder),
            announcement,
        });
        let undertaking = Undertaking { change, operation: Operation::Delete, before: Some(before), first, talk };
        self.carry_out(step, undertaking, Sequel::Nothing).await;
    }

    async fn carry_out(&mut self, step: u32, undertaking: Undertaking, sequel: Sequel) {
        let (hooks, cancellation) = (Arc::clone(&self.session.hooks), self.session.cancellation.clone());
        let talk = async move { Event::Change(Box::new(undertaking.see_through(hooks, cancellation).await)) };
        self.begin_talking(step, talk, sequel).await;
    }

    /// Whether a change creates a replacement while what it replaces is still there.
    pub(super) fn deposes(&self, change: u32) -> bool {
        self.change(change).action == Action::CreateThenDelete
    }

    fn evaluate(&mut self, change: u32) -> Option<Evaluated> {
        let address = self.change(change).address.clone();
        let Some((module, resource, position)) = self.place(change) else { return self.written(change) };
        let index = self.world.module(module).of;
        let template = self.prepared.templates.resource(index, resource).cloned()?;
        let config = Arc::clone(&self.world.static_module(module).config);
        let (_, block) = config.resources.get_index(resource as usize)?;
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
        if self.evaluation.truth(lifecycle.destroy.as_ref(), &scope) == Some(false) {
            self.kept.insert(change);
        }
        Some(Evaluated { template, span: block.beginning(), config: value, ignore })
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
            fit: Fit::Fits,
            provider: Arc::clone(&planned.provider),
            key: None,
            meta: no_meta(),
        };
        // Values that the provider computes are unknown at plan time and are not written.
        let config = generate::config_of(block, &planned.after).transform(|_, value| match value.is_known() {
            true => value,
            false => Value::null(value.ty().clone()),
        });
        Some(Evaluated { template: Arc::new(template), span: Span::NONE, config, ignore: Ignore::Nothing })
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
}
