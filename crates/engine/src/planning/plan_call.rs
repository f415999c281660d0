//! The provider calls that plan one managed object: upgrade, read (refresh), import, validate, plan, and plan again for a replacement.
//!
//! A [`PlanCall`] owns its inputs and changes only its own result, so that many can run at once.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_plan::{Action, ActionReason, DeferralReason, Importing};
use groma_provider::{Deferred, ImportInput, PlanInput, PlanPurpose, Planned, Private, ReadInput, planned_unknown};
use groma_state::{ObjectRecord, ObjectStatus};
use groma_value::{Path, Value};
use indexmap::IndexSet;

use super::ignore::{Ignore, ignore_changes, without_ignored};
use crate::call_target::CallTarget;
use crate::generate;
use crate::hooks::{self, Hooks};
use crate::options::{Deferral, Refresh};
use crate::record::{Object, recall, remember_marks};

/// The question that the provider calls answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The change that makes the object match its configuration.
    Change,
    /// The deletion of the object, with the reason for it.
    Delete(Option<ActionReason>),
    /// The current object, without any change: a refresh, as in every plan with `-refresh-only`.
    Refresh,
}

/// The treatment of an object that is no longer managed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposal {
    /// The object is destroyed.
    Destroyed,
    /// The object stays and is forgotten, for this reason.
    Kept(ActionReason),
}

/// Protection against destruction by `prevent_destroy` (PL-24).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prevention {
    /// The object may be destroyed.
    None,
    /// It may not, as the block with this header says.
    Forbidden(Span),
    /// The argument's value is unknown until apply; this is its expression.
    Undecided(Span),
}

/// The lifecycle of an object, as far as it matters to a plan.
pub struct Lifecycle {
    /// Changes that `ignore_changes` ignores.
    pub ignore: Ignore,
    /// Whether a replacement creates first.
    pub create_before_destroy: bool,
    /// Whether it may be destroyed (PL-24).
    pub prevention: Prevention,
    /// The treatment of the object if it is no longer managed.
    pub disposal: Disposal,
}

/// One object to plan.
pub struct PlanCall {
    /// The object, and the provider that plans it.
    pub(crate) target: CallTarget,
    /// The arguments of its `lifecycle` block.
    pub lifecycle: Lifecycle,
    /// The question to answer.
    pub purpose: Purpose,
    /// The configuration; null without one.
    pub config: Value,
    /// The object as recorded, if there is one.
    pub record: Option<Arc<ObjectRecord>>,
    /// Whether it is read first.
    pub refresh: Refresh,
    /// The reason for a forced replacement, if there is one.
    pub forced: Option<ActionReason>,
    /// The `provider` argument for generated configuration of an imported object.
    pub generating: Option<Generating>,
    /// The import target, if there is no object yet.
    pub importing: Option<Importing>,
    /// Whether the provider may leave the change to a later run.
    pub deferral: Deferral,
    /// The reason for deferring the change, regardless of the provider's answers.
    pub left: Option<DeferralReason>,
    /// The purpose of the plan of a creation.
    pub creates: PlanPurpose,
    /// The receiver of progress reports.
    pub hooks: Arc<dyn Hooks>,
}

/// Settings of generated configuration.
pub struct Generating {
    /// The value of the argument `provider`, if it is to have one.
    pub provider: Option<String>,
}

/// The result of planning one object.
pub struct PlanCallResult {
    /// The generated configuration block.
    pub generated: Option<String>,
    /// The object as the last run stored it, upgraded to the current schema; null if there was none. Its difference from `prior` is
    /// drift.
    pub previous: Value,
    /// The object after the refresh or import; `None` if it does not exist.
    pub prior: Option<Object>,
    /// The identity of an object that no longer exists, from its last read.
    pub gone: Option<Value>,
    /// The change; `None` after an error and for a refresh.
    pub draft: Option<Draft>,
    /// Errors and warnings of the provider and of the checks of its answers.
    pub diagnostics: Diagnostics,
}

impl PlanCall {
    fn null(&self) -> Value {
        self.target.schema.block.null_value()
    }

    /// Runs the provider calls to their end.
    pub async fn run(mut self) -> PlanCallResult {
        // A change may already be deferred by its dependencies; the provider is still asked for what it knows.
        let mut findings = Findings::new(self.left);
        let mut found = PlanCallResult {
            generated: None,
            previous: self.null(),
            prior: None,
            gone: None,
            draft: None,
            diagnostics: Diagnostics::new(),
        };
        if let Some(record) = self.record.clone() {
            // The stored object may have an old schema version, so the provider upgrades it first (LC-19).
            match recall(&self.target.provider, &self.target.subject(), &record, &mut findings.diagnostics).await {
                Some(object) => {
                    found.previous = object.value.clone();
                    found.prior = self.refresh(object, &mut findings).await;
                    found.gone.clone_from(&findings.gone);
                }
                None => return PlanCallResult { diagnostics: findings.diagnostics, ..found },
            }
        } else if let Some(importing) = &self.importing {
            found.prior = self.import(importing, &mut findings).await;
        }
        // An import without a block: the block is generated from the imported object (PL-26).
        if let (Some(generating), Some(object)) = (&self.generating, &found.prior) {
            let name = (&*self.target.address.resource.type_name, &*self.target.address.resource.name);
            let provider = generating.provider.as_deref();
            let source = generate::provider_config(
                &self.target.provider,
                &self.target.subject(),
                &object.value,
                &mut findings.diagnostics,
            )
            .await;
            let Some(object) = source else {
                return PlanCallResult { diagnostics: findings.diagnostics, ..found };
            };
            found.generated = Some(generate::resource_text(name, provider, &self.target.schema.block, &object));
            self.config = generate::config_of(&self.target.schema.block, &object);
        }
        // Planning with a wrong object would report errors that only follow from the first one.
        if !findings.diagnostics.has_errors() {
            found.draft = match self.purpose {
                // The import was deferred, so there is no object to generate a block from.
                _ if self.generating.is_some() && found.prior.is_none() => self.deferred_import(&findings),
                Purpose::Refresh => self.deferred_refresh(found.prior.as_ref(), &findings),
                Purpose::Delete(reason) => self.deletion(found.prior.as_ref(), reason, &mut findings).await,
                Purpose::Change => self.change(found.prior.as_ref(), &mut findings).await,
            };
        }
        PlanCallResult { diagnostics: findings.diagnostics, ..found }
    }

    /// Plans a deferred creation for an object whose import was deferred.
    fn deferred_import(&self, findings: &Findings) -> Option<Draft> {
        let block = &self.target.schema.block;
        findings
            .deferred
            .map(|reason| Draft::unasked(block.null_value(), planned_unknown(block, block.empty_value()), reason))
    }

    /// Returns a deferred no-op if the provider deferred the read; otherwise a refresh plans nothing.
    fn deferred_refresh(&self, prior: Option<&Object>, findings: &Findings) -> Option<Draft> {
        let (reason, prior) = findings.deferred.filter(|_| self.left.is_none()).zip(prior)?;
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

    /// Imports an existing object, and reads it (LC-23).
    async fn import(&self, importing: &Importing, findings: &mut Findings) -> Option<Object> {
        self.hooks.import_planned(&self.target.address, importing);
        let input = ImportInput {
            target: importing.target.clone(),
            config: without_ignored(&self.target.schema.block, &self.lifecycle.ignore, self.config.clone()),
            capabilities: self.deferral.capabilities(),
        };
        // An import returns a stub with little more than the id; the read that follows completes it (LC-23).
        let (imported, problems) = self.target.provider.import(&self.target.subject(), input).await;
        findings.diagnostics.append(problems);
        let imported = imported?;
        if imported.deferred.is_some() {
            findings.defer(imported.deferred);
            return None;
        }
        self.hooks.import_prepared(&self.target.address);
        let stub = Object { value: imported.state, private: imported.private, identity: imported.identity };
        // Earlier errors must not hide that the object was not found.
        let before = findings.diagnostics.has_errors();
        let object = self.read(stub, findings).await;
        if object.is_none() && findings.diagnostics.has_errors() == before {
            findings.diagnostics.push(self.target.provider.import_not_found(&self.target.subject(), &importing.target));
        }
        object
    }

    /// Reads the current object (LC-21); `None` if it no longer exists.
    async fn refresh(&self, object: Object, findings: &mut Findings) -> Option<Object> {
        // `-refresh=false`: the recorded object counts as current.
        if self.refresh == Refresh::Trust {
            return Some(object);
        }
        self.read(object, findings).await
    }

    async fn read(&self, object: Object, findings: &mut Findings) -> Option<Object> {
        let subject = hooks::Subject::of(&self.target.address, self.target.deposed.clone(), &object.value);
        self.hooks.refresh_start(&subject);
        let input = ReadInput {
            current: object.value.clone(),
            private: Arc::clone(&object.private),
            identity: object.identity.clone(),
            meta: self.target.meta.clone(),
            capabilities: self.deferral.capabilities(),
        };
        let (read, problems) = self.target.provider.read(&self.target.subject(), input).await;
        findings.diagnostics.append(problems);
        // After an error the recorded object stays in the plan, so that it is not taken for deleted.
        let Some(read) = read else { return Some(object) };
        if read.deferred.is_some() {
            // The current object is unknown in this run.
            findings.defer(read.deferred);
            self.hooks.refresh_complete(&subject);
            return Some(object);
        }
        if read.state.is_null() {
            self.hooks.refresh_complete(&hooks::Subject::of(
                &self.target.address,
                self.target.deposed.clone(),
                &read.state,
            ));
            // The identity of the missing object is shown with its drift and passed to the plan of its successor.
            findings.gone = read.identity;
            return None;
        }
        // Marks are not part of what a provider returns, but of the record.
        let record_marks =
            self.record.as_ref().map_or(read.state.clone(), |record| remember_marks(read.state.clone(), record));
        self.hooks.refresh_complete(&hooks::Subject::of(
            &self.target.address,
            self.target.deposed.clone(),
            &record_marks,
        ));
        // A provider that returns the same object has not drifted; sharing it makes comparing it free.
        let value = if record_marks == object.value { object.value } else { record_marks };
        Some(Object { value, private: read.private, identity: read.identity.or(object.identity) })
    }

    async fn deletion(
        &self,
        prior: Option<&Object>,
        reason: Option<ActionReason>,
        findings: &mut Findings,
    ) -> Option<Draft> {
        // Nothing is left to delete if the object is gone already.
        let prior = prior?;
        // The provider is not involved: the object stays as it is and only leaves the state (PL-25).
        if let Disposal::Kept(reason) = self.lifecycle.disposal {
            return Some(Draft {
                action: Action::Forget,
                reason: Some(reason),
                before: prior.value.clone(),
                after: self.null(),
                replace_paths: Vec::new(),
                private: Private::default(),
                identity: None,
                deferred: findings.deferred,
            });
        }
        self.check_prevention(findings);
        // The provider may refuse a deletion or warn about it (PL-46).
        let planned = self.ask(PlanPurpose::Change, prior.value.clone(), self.null(), prior, findings).await?;
        Some(Draft {
            action: Action::Delete,
            reason,
            before: prior.value.clone(),
            after: self.null(),
            replace_paths: Vec::new(),
            private: planned.private,
            identity: planned.identity,
            deferred: findings.deferred,
        })
    }

    async fn change(&self, prior: Option<&Object>, findings: &mut Findings) -> Option<Draft> {
        // The complete configuration is validated again: validation without values saw only its known parts (LC-03).
        let problems = self.target.provider.validate(&self.target.subject(), &self.config).await;
        let invalid = problems.has_errors();
        findings.diagnostics.append(problems);
        if invalid {
            return None;
        }
        let Some(prior) = prior else { return self.creation(findings).await };
        // A tainted object may be incomplete, so it is replaced whatever the configuration says (PL-05).
        if self.record.as_ref().is_some_and(|record| record.status == ObjectStatus::Tainted) {
            let reason = self.triggered().unwrap_or(ActionReason::ReplaceBecauseTainted);
            // The private data and identity of a tainted object may be incomplete.
            let again = Again { private: Arc::default(), identity: None, paths: Vec::new() };
            return self.replacement(prior, again, reason, findings).await;
        }
        let config =
            ignore_changes(&self.target.schema.block, &self.lifecycle.ignore, &prior.value, self.config.clone());
        let mut planned = self.ask(PlanPurpose::Change, prior.value.clone(), config, prior, findings).await?;
        // The legacy SDK may plan changes of arguments that are ignored, which other providers must not.
        if planned.legacy_type_system {
            planned.state =
                ignore_changes(&self.target.schema.block, &self.lifecycle.ignore, &prior.value, planned.state);
        }
        // The provider's own reason comes second: an explicit request explains the replacement better.
        if !planned.requires_replace.is_empty() {
            let reason = self.forced.unwrap_or(ActionReason::ReplaceBecauseCannotUpdate);
            return self.replacement(prior, Again::of(planned), reason, findings).await;
        }
        // No attribute requires it, so no path is shown as the cause.
        if let Some(reason) = self.forced {
            return self.replacement(prior, Again::of(planned), reason, findings).await;
        }
        // The marks are compared too: that something became sensitive must be recorded.
        let action = if planned.state == prior.value { Action::NoOp } else { Action::Update };
        // The prior value is shared, so that later comparisons are cheap.
        let after = if action == Action::NoOp { prior.value.clone() } else { planned.state };
        Some(Draft {
            action,
            reason: None,
            before: prior.value.clone(),
            after,
            replace_paths: Vec::new(),
            private: planned.private,
            identity: planned.identity,
            deferred: findings.deferred,
        })
    }

    /// Returns the reason for a replacement through `replace_triggered_by`, even if there is nothing to replace yet.
    fn triggered(&self) -> Option<ActionReason> {
        self.forced.filter(|reason| *reason == ActionReason::ReplaceByTriggers)
    }

    async fn creation(&self, findings: &mut Findings) -> Option<Draft> {
        // A provider may use the identity of an object that disappeared, as in Terraform.
        let nothing = Object { value: self.null(), private: Arc::default(), identity: findings.gone.clone() };
        let planned = self.ask(self.creates, self.null(), self.config.clone(), &nothing, findings).await?;
        Some(Draft {
            action: Action::Create,
            reason: self.triggered(),
            before: self.null(),
            after: planned.state,
            replace_paths: Vec::new(),
            private: planned.private,
            identity: planned.identity,
            deferred: findings.deferred,
        })
    }

    /// Plans a replacement as a creation from nothing (PL-40).
    async fn replacement(
        &self,
        prior: &Object,
        again: Again,
        reason: ActionReason,
        findings: &mut Findings,
    ) -> Option<Draft> {
        // An object that is forgotten is not destroyed, so `prevent_destroy` does not apply.
        let is_destroyed = self.lifecycle.disposal == Disposal::Destroyed;
        if is_destroyed {
            self.check_prevention(findings);
        }
        let Again { private, identity, paths: replace_paths } = again;
        let nothing = Object { value: self.null(), private, identity };
        // The new object must not depend on the old one, so it is planned from nothing (PL-40).
        let planned = self.ask(PlanPurpose::Replacement, self.null(), self.config.clone(), &nothing, findings).await?;
        // `destroy = false` decides first: without a destruction there is no order of the two halves.
        let action = match self.lifecycle.create_before_destroy {
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
            deferred: findings.deferred,
        })
    }

    async fn ask(
        &self,
        purpose: PlanPurpose,
        prior: Value,
        config: Value,
        kept: &Object,
        findings: &mut Findings,
    ) -> Option<Planned> {
        let input = PlanInput {
            purpose,
            prior,
            config,
            private: Arc::clone(&kept.private),
            identity: kept.identity.clone(),
            meta: self.target.meta.clone(),
            capabilities: self.deferral.capabilities(),
        };
        let (planned, problems) = self.target.provider.plan(&self.target.subject(), input).await;
        findings.diagnostics.append(problems);
        findings.defer(planned.as_ref().and_then(|planned| planned.deferred));
        planned
    }

    /// Reports a destruction that `prevent_destroy` forbids. The change is planned all the same, so that people see it.
    fn check_prevention(&self, findings: &mut Findings) {
        // A deferred change destroys nothing in this run.
        let problem = match self.lifecycle.prevention {
            Prevention::Undecided(span) if findings.deferred.is_none() => self.undecided(span),
            Prevention::Forbidden(span) if findings.deferred.is_none() => self.forbidden(span),
            _ => return,
        };
        findings.diagnostics.push(problem);
    }

    fn undecided(&self, span: Span) -> Diagnostic {
        let detail = format!(
            "The plan would destroy {}, but its \"prevent_destroy\" depends on a value that is known only after \
             apply, or that no longer exists for a removed instance, such as each.value. Use a value that is known, \
             or set it to false to allow the destruction.",
            self.target.address
        );
        Diagnostic::error("Invalid value for prevent_destroy", detail).at(span).about(&self.target.address)
    }

    fn forbidden(&self, span: Span) -> Diagnostic {
        let detail = format!(
            "The plan would destroy {}, which \"prevent_destroy\" in its lifecycle block forbids. To keep the \
             object, revert the change that requires this, or exclude the resource with -target. To allow the \
             destruction, set prevent_destroy to false first.",
            self.target.address
        );
        Diagnostic::error("Instance cannot be destroyed", detail).at(span).about(&self.target.address)
    }
}

/// A planned change of one object, before it is added to the plan as a `ResourceChange`.
pub struct Draft {
    /// The planned action.
    pub action: Action,
    /// The reason for the action.
    pub reason: Option<ActionReason>,
    /// The prior object; null for a creation.
    pub before: Value,
    /// The planned object, null for a deletion.
    pub after: Value,
    /// The paths that force a replacement.
    pub replace_paths: Vec<Path>,
    /// The provider's bytes for apply.
    pub private: Private,
    /// The planned identity of the object.
    pub identity: Option<Value>,
    /// The reason for deferring the change.
    pub deferred: Option<DeferralReason>,
}

impl Draft {
    /// A creation or an update that no provider was asked about, because it is left to a later run.
    pub fn unasked(before: Value, after: Value, reason: DeferralReason) -> Self {
        let action = match (before.is_null(), after.is_null()) {
            (true, _) => Action::Create,
            (false, true) => Action::Delete,
            (false, false) => Action::Update,
        };
        Self {
            action,
            reason: None,
            before,
            after,
            replace_paths: Vec::new(),
            private: Private::default(),
            identity: None,
            deferred: Some(reason),
        }
    }
}

/// Diagnostics and deferrals that accumulate while an object is planned.
pub(super) struct Findings {
    pub(super) diagnostics: Diagnostics,
    /// The reason for deferring the change.
    pub(super) deferred: Option<DeferralReason>,
    /// The last known identity of an object that is gone. As in Terraform, its successor is planned with it.
    pub(super) gone: Option<Value>,
}

impl Findings {
    /// Creates empty findings; `left` is the reason if the change is deferred already.
    pub(super) fn new(left: Option<DeferralReason>) -> Self {
        Self { diagnostics: Diagnostics::new(), deferred: left, gone: None }
    }

    /// Records the provider's reason for deferring, unless there is one already.
    pub(super) fn defer(&mut self, deferred: Option<Deferred>) {
        // The first reason is the one that was known without the provider.
        self.deferred = self.deferred.or(deferred.map(DeferralReason::from));
    }
}

/// The parts of the first plan response that the second plan call, for the replacement, starts from.
pub(super) struct Again {
    pub(super) private: Private,
    pub(super) identity: Option<Value>,
    /// The paths that force the replacement.
    pub(super) paths: Vec<Path>,
}

impl Again {
    /// Takes the parts of `planned` that a second plan needs. A provider may name a path once for each reason; each path is kept once.
    pub(super) fn of(planned: Planned) -> Self {
        let paths: IndexSet<Path> = planned.requires_replace.into_iter().collect();
        Self { private: planned.private, identity: planned.identity, paths: paths.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_path_that_is_named_twice_forces_the_replacement_once() {
        let path = |name: &str| Path::root().attribute(name);
        let planned = Planned {
            state: Value::NULL,
            requires_replace: vec![path("b"), path("a"), path("b")],
            private: Arc::default(),
            identity: None,
            legacy_type_system: false,
            deferred: None,
        };
        assert_eq!(Again::of(planned).paths, [path("b"), path("a")]);
    }
}
