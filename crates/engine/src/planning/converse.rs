//! The conversation with a provider that plans one managed object.
//!
//! A conversation owns what it needs and changes nothing but its own result, so that many can go on at once.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_provider::{ImportInput, PlanInput, PlanPurpose, Planned, Private, ReadInput, Subject, planned_unknown};
use groma_state::ObjectStatus;
use groma_value::Value;

use super::conversation::{Conversation, Conversed, Parting, Prevention, Purpose};
use super::draft::{Again, Draft, Told};
use super::ignore::ignore_changes;
use crate::generate;
use crate::hooks;
use crate::plan::{Action, ActionReason, Importing};
use crate::record::{Object, recall, remember_marks};

impl Conversation {
    fn subject(&self) -> Subject<'_> {
        Subject { address: &self.address, schema: &self.schema, body: self.body.as_deref(), span: self.span }
    }

    fn null(&self) -> Value {
        self.schema.block.null_value()
    }

    /// Runs the provider calls to their end.
    pub async fn hold(mut self) -> Conversed {
        let mut told = Told::new(self.left);
        let mut found = Conversed {
            generated: None,
            previous: self.null(),
            prior: None,
            gone: None,
            draft: None,
            diagnostics: Diagnostics::new(),
        };
        if let Some(record) = self.record.clone() {
            match recall(&self.provider, &self.subject(), &record, &mut told.diagnostics).await {
                Some(object) => {
                    found.previous = object.value.clone();
                    found.prior = self.refresh(object, &mut told).await;
                    found.gone.clone_from(&told.gone);
                }
                None => return Conversed { diagnostics: told.diagnostics, ..found },
            }
        } else if let Some(importing) = &self.importing {
            found.prior = self.import(importing, &mut told).await;
        }
        if let (Some(generating), Some(object)) = (&self.generating, &found.prior) {
            let name = (&*self.address.resource.type_name, &*self.address.resource.name);
            let provider = generating.provider.as_deref();
            let asked = generate::asked(&self.provider, &self.subject(), &object.value, &mut told.diagnostics).await;
            let Some(object) = asked else {
                return Conversed { diagnostics: told.diagnostics, ..found };
            };
            found.generated = Some(generate::resource_text(name, provider, &self.schema.block, &object));
            self.config = generate::config_of(&self.schema.block, &object);
        }
        if !told.diagnostics.has_errors() {
            found.draft = match self.purpose {
                // There is nothing yet that a block could be written from.
                _ if self.generating.is_some() && found.prior.is_none() => self.awaited(&told),
                Purpose::Look => self.look(found.prior.as_ref(), &told),
                Purpose::Delete(reason) => self.deletion(found.prior.as_ref(), reason, &mut told).await,
                Purpose::Change => self.change(found.prior.as_ref(), &mut told).await,
            };
        }
        Conversed { diagnostics: told.diagnostics, ..found }
    }

    /// An object that is to be taken over one day.
    fn awaited(&self, told: &Told) -> Option<Draft> {
        let block = &self.schema.block;
        told.deferred
            .map(|reason| Draft::unasked(block.null_value(), planned_unknown(block, block.empty_value()), reason))
    }

    /// Plans no action for an object that could not be read.
    fn look(&self, prior: Option<&Object>, told: &Told) -> Option<Draft> {
        let (reason, prior) = told.deferred.filter(|_| self.left.is_none()).zip(prior)?;
        Some(Draft {
            action: Action::NoOp,
            reason: None,
            before: prior.value.clone(),
            after: prior.value.clone(),
            replace_paths: Vec::new(),
            private: Arc::clone(&prior.private),
            identity: prior.identity.clone(),
            deferred: Some(reason),
        })
    }

    /// An object that exists already: a stub of it, then what reading says (LC-23).
    async fn import(&self, importing: &Importing, told: &mut Told) -> Option<Object> {
        self.hooks.import_planned(&self.address, importing);
        let input = ImportInput { target: importing.target.clone(), capabilities: self.deferral.capabilities() };
        let (imported, problems) = self.provider.import(&self.subject(), input).await;
        told.diagnostics.append(problems);
        let imported = imported?;
        if imported.deferred.is_some() {
            told.defer(imported.deferred);
            return None;
        }
        self.hooks.import_prepared(&self.address);
        let stub = Object { value: imported.state, private: imported.private, identity: imported.identity };
        let before = told.diagnostics.has_errors();
        let object = self.read(stub, told).await;
        if object.is_none() && told.diagnostics.has_errors() == before {
            told.diagnostics.push(self.provider.import_not_found(&self.subject(), &importing.target));
        }
        object
    }

    /// The object as it is now (LC-21); none when it is gone.
    async fn refresh(&self, object: Object, told: &mut Told) -> Option<Object> {
        if self.refresh == crate::options::Refresh::Trust {
            return Some(object);
        }
        self.read(object, told).await
    }

    async fn read(&self, object: Object, told: &mut Told) -> Option<Object> {
        let subject = hooks::Subject::of(&self.address, self.deposed.clone(), &object.value);
        self.hooks.refresh_start(&subject);
        let input = ReadInput {
            current: object.value.clone(),
            private: Arc::clone(&object.private),
            identity: object.identity.clone(),
            meta: self.meta.clone(),
            capabilities: self.deferral.capabilities(),
        };
        let (read, problems) = self.provider.read(&self.subject(), input).await;
        told.diagnostics.append(problems);
        let Some(read) = read else { return Some(object) };
        if read.deferred.is_some() {
            // The current object is unknown in this run.
            told.defer(read.deferred);
            self.hooks.refresh_complete(&subject);
            return Some(object);
        }
        if read.state.is_null() {
            self.hooks.refresh_complete(&hooks::Subject::of(&self.address, self.deposed.clone(), &read.state));
            told.gone = read.identity;
            return None;
        }
        let record_marks =
            self.record.as_ref().map_or(read.state.clone(), |record| remember_marks(read.state.clone(), record));
        self.hooks.refresh_complete(&hooks::Subject::of(&self.address, self.deposed.clone(), &record_marks));
        // A provider that returns the same object has not drifted; sharing it makes comparing it free.
        let value = if record_marks == object.value { object.value } else { record_marks };
        Some(Object { value, private: read.private, identity: read.identity.or(object.identity) })
    }

    async fn deletion(&self, prior: Option<&Object>, reason: Option<ActionReason>, told: &mut Told) -> Option<Draft> {
        // Nothing is left to delete if the object is gone already.
        let prior = prior?;
        if let Parting::Kept(reason) = self.parting {
            return Some(Draft {
                action: Action::Forget,
                reason: Some(reason),
                before: prior.value.clone(),
                after: self.null(),
                replace_paths: Vec::new(),
                private: Private::default(),
                identity: None,
                deferred: told.deferred,
            });
        }
        self.check_prevention(told);
        let planned = self.ask(PlanPurpose::Change, prior.value.clone(), self.null(), prior, told).await?;
        Some(Draft {
            action: Action::Delete,
            reason,
            before: prior.value.clone(),
            after: self.null(),
            replace_paths: Vec::new(),
            private: planned.private,
            identity: planned.identity,
            deferred: told.deferred,
        })
    }

    async fn change(&self, prior: Option<&Object>, told: &mut Told) -> Option<Draft> {
        let problems = self.provider.validate(&self.subject(), &self.config).await;
        let invalid = problems.has_errors();
        told.diagnostics.append(problems);
        if invalid {
            return None;
        }
        let Some(prior) = prior else { return self.creation(told).await };
        if self.record.as_ref().is_some_and(|record| record.status == ObjectStatus::Tainted) {
            let reason = self.triggered().unwrap_or(ActionReason::ReplaceBecauseTainted);
            // The private data and identity of a tainted object may be incomplete.
            let again = Again { private: Arc::default(), identity: None, paths: Vec::new() };
            return self.replacement(prior, again, reason, told).await;
        }
        let config = ignore_changes(&self.schema.block, &self.ignore, &prior.value, self.config.clone());
        let mut planned = self.ask(PlanPurpose::Change, prior.value.clone(), config, prior, told).await?;
        if planned.legacy_type_system {
            planned.state = ignore_changes(&self.schema.block, &self.ignore, &prior.value, planned.state);
        }
        if !planned.requires_replace.is_empty() {
            let reason = self.forced.unwrap_or(ActionReason::ReplaceBecauseCannotUpdate);
            return self.replacement(prior, Again::of(planned), reason, told).await;
        }
        if let Some(reason) = self.forced {
            return self.replacement(prior, Again::of(planned), reason, told).await;
        }
        // The marks are compared too: that something became sensitive must be recorded.
        let action = if planned.state == prior.value { Action::NoOp } else { Action::Update };
        let after = if action == Action::NoOp { prior.value.clone() } else { planned.state };
        Some(Draft {
            action,
            reason: None,
            before: prior.value.clone(),
            after,
            replace_paths: Vec::new(),
            private: planned.private,
            identity: planned.identity,
            deferred: told.deferred,
        })
    }

    /// Returns the reason for a replacement through `replace_triggered_by`, even if there is nothing to replace yet.
    fn triggered(&self) -> Option<ActionReason> {
        self.forced.filter(|reason| *reason == ActionReason::ReplaceByTriggers)
    }

    async fn creation(&self, told: &mut Told) -> Option<Draft> {
        let nothing = Object { value: self.null(), private: Arc::default(), identity: told.gone.clone() };
        let planned = self.ask(self.creates, self.null(), self.config.clone(), &nothing, told).await?;
        Some(Draft {
            action: Action::Create,
            reason: self.triggered(),
            before: self.null(),
            after: planned.state,
            replace_paths: Vec::new(),
            private: planned.private,
            identity: planned.identity,
            deferred: told.deferred,
        })
    }

    /// Plans a replacement as a creation from nothing (PL-40).
    async fn replacement(&self, prior: &Object, again: Again, reason: ActionReason, told: &mut Told) -> Option<Draft> {
        let is_destroyed = self.parting == Parting::Destroyed;
        if is_destroyed {
            self.check_prevention(told);
        }
        let Again { private, identity, paths: replace_paths } = again;
        let nothing = Object { value: self.null(), private, identity };
        let planned = self.ask(PlanPurpose::Replacement, self.null(), self.config.clone(), &nothing, told).await?;
        let action = match self.create_before_destroy {
            _ if !is_destroyed => Action::ForgetThenCreate,
            true => Action::CreateThenDelete,
            false => Action::DeleteThenCreate,
        };
        Some(Draft {
            action,
            reason: Some(reason),
            before: prior.value.clone(),
            after: planned.state,
            replace_paths,
            private: planned.private,
            identity: planned.identity,
            deferred: told.deferred,
        })
    }

    async fn ask(
        &self,
        purpose: PlanPurpose,
        prior: Value,
        config: Value,
        kept: &Object,
        told: &mut Told,
    ) -> Option<Planned> {
        let input = PlanInput {
            purpose,
            prior,
            config,
            private: Arc::clone(&kept.private),
            identity: kept.identity.clone(),
            meta: self.meta.clone(),
            capabilities: self.deferral.capabilities(),
        };
        let (planned, problems) = self.provider.plan(&self.subject(), input).await;
        told.diagnostics.append(problems);
        told.defer(planned.as_ref().and_then(|planned| planned.deferred));
        planned
    }

    /// Tells where the object may not go. The change is planned all the same, so that people see what was going to happen.
    fn check_prevention(&self, told: &mut Told) {
        let problem = match self.prevention {
            Prevention::Undecided(span) if told.deferred.is_none() => self.undecided(span),
            Prevention::Forbidden(span) if told.deferred.is_none() => self.forbidden(span),
            _ => return,
        };
        told.diagnostics.push(problem);
    }

    fn undecided(&self, span: Span) -> Diagnostic {
        let detail = format!(
            "The plan would destroy {}, and whether it may cannot be told: its \"prevent_destroy\" stands on something that is known \
             only after apply, or that has gone with the instance, such as each.value. Let it stand on what is known, or set it to \
             false to let the object go.",
            self.address
        );
        Diagnostic::error("Invalid value for prevent_destroy", detail).at(span).about(self.address.to_string())
    }

    fn forbidden(&self, span: Span) -> Diagnostic {
        let detail = format!(
            "The plan would destroy {}, which \"prevent_destroy\" in its lifecycle block forbids. To keep the \
             object, take back the change that calls for this, or leave the resource out with -target; to let it \
             go, set prevent_destroy to false first.",
            self.address
        );
        Diagnostic::error("Instance cannot be destroyed", detail).at(span).about(self.address.to_string())
    }
}
