//! The provider calls that apply one change: upgrade, plan again, apply.

use std::sync::Arc;
use std::time::Instant;

use groma_address::ProviderConfig;
use groma_diagnostics::Diagnostics;
use groma_plan::Action;
use groma_provider::{Applied, ApplyInput, CallFate, PlanInput, PlanPurpose, Planned};
use groma_state::{Begin, CreateRequest, ObjectRecord, Operation};
use groma_value::{Value, msgpack};

use crate::call_target::CallTarget;
use crate::call_target::capabilities;
use crate::hooks::{self, Hooks};
use crate::planning::{Ignore, ignore_changes};
use crate::record::{Circumstances, Object, recall};
use crate::recorder::Recorder;

/// One change to apply, with its inputs.
pub(super) struct ApplyCall {
    pub(super) target: CallTarget,
    pub(super) provider_config: Arc<ProviderConfig>,
    pub(super) operation: Operation,
    /// The recorded object; `None` for a creation.
    pub(super) record: Option<Arc<ObjectRecord>>,
    /// The configuration, evaluated again; null for a deletion.
    pub(super) config: Value,
    /// The planned object of the initial plan.
    pub(super) initial: Value,
    /// The private data that the provider returned with the plan.
    pub(super) planned_private: Arc<[u8]>,
    pub(super) ignore: Ignore,
    /// The metadata to record with the object if the change succeeds.
    pub(super) circumstances: Circumstances,
    pub(super) recorder: Arc<dyn Recorder>,
    pub(super) announcement: Announcement,
}

/// The place where the start of a change is reported ("Creating...").
pub(super) enum Announcement {
    /// Before the first provider call.
    AtOnce(Notice),
    /// Before the apply call, once it is certain that the object changes.
    Due(Notice),
    /// In the result writer, with the result.
    LeftToWriter,
}

/// The data of a progress report.
pub(super) struct Notice {
    pub(super) hooks: Arc<dyn Hooks>,
    pub(super) subject: hooks::Subject,
    pub(super) operation: hooks::Operation,
}

impl Notice {
    fn give(&self) {
        self.hooks.apply_start(&self.subject, self.operation);
    }
}

/// Whether the start of a change was reported. With all values known a planned change may turn out to be none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Beginning {
    Reported,
    Unreported,
    /// The change started, and the result writer reports it.
    LeftToWriter,
}

/// The result of applying one change.
pub(super) struct ApplyCallResult {
    /// The new object; `None` if the provider was not asked to change anything.
    pub(super) applied: Option<Applied>,
    /// Whether the start was reported.
    pub(super) beginning: Beginning,
    /// The time of the report, if it was made during the call. The start of the provider process does not count.
    pub(super) started: Option<Instant>,
    /// The end of the call.
    pub(super) end: CallEnd,
    pub(super) diagnostics: Diagnostics,
}

/// The end of the provider call that applies a change.
pub(super) enum CallEnd {
    /// The provider answered, or no call was necessary.
    Known,
    /// The provider did not answer, so the state of the object is unknown. Contains the journal's record of the call.
    Lost(Box<Begin>, Repeatable),
    /// The provider process had ended before the call was sent.
    NotBegun,
}

/// Whether a creation can be requested again without creating a second object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeatable {
    Yes,
    No,
}

impl ApplyCall {
    /// Reports the start of the change, if that has to precede every call.
    pub(super) fn announce_at_once(&self) {
        if let Announcement::AtOnce(notice) = &self.announcement {
            notice.give();
        }
    }

    pub(super) async fn run(self: Box<Self>) -> ApplyCallResult {
        let mut diagnostics = Diagnostics::new();
        let mut beginning = match self.announcement {
            Announcement::AtOnce(_) => Beginning::Reported,
            Announcement::Due(_) | Announcement::LeftToWriter => Beginning::Unreported,
        };
        let mut started = None;
        let mut end = CallEnd::Known;
        let applied = self.carry_out(&mut beginning, &mut started, &mut end, &mut diagnostics).await;
        // A provider that ended before the call fails every remaining call. These are reported once, as operations not
        // started.
        if applied.is_none() && diagnostics.has_errors() && self.target.provider.has_ended() {
            end = CallEnd::NotBegun;
        }
        ApplyCallResult { applied, beginning, started, end, diagnostics }
    }

    async fn carry_out(
        &self,
        beginning: &mut Beginning,
        started: &mut Option<Instant>,
        end: &mut CallEnd,
        diagnostics: &mut Diagnostics,
    ) -> Option<Applied> {
        let prior = match &self.record {
            Some(record) => recall(&self.target.provider, &self.target.subject(), record, diagnostics).await?,
            None => Object { value: self.target.schema.block.null_value(), private: Arc::default(), identity: None },
        };
        // Terraform plans again with final values and applies that plan, which may only fill in what was unknown
        // (LC-06).
        let (planned, config) = self.decide(&prior, diagnostics).await?;
        if self.operation == Operation::Update && planned.state == prior.value {
            // With everything known nothing is left to change.
            return Some(Applied {
                state: prior.value,
                private: prior.private,
                identity: prior.identity,
                failed: false,
                fate: CallFate::Answered,
            });
        }
        *beginning = self.announce();
        // Reading and planning are not part of the reported duration.
        if !matches!(self.announcement, Announcement::AtOnce(_)) {
            *started = Some(Instant::now());
        }
        // Objects of a pure provider exist only in the state, so a killed run loses nothing.
        let begin = (!self.target.provider.is_pure()).then(|| Box::new(self.begin(&planned, &config)));
        // The journal comes before the request: a call without a record would be lost with the process.
        if let Some(begin) = &begin
            && let Err(problem) = self.recorder.begin(begin)
        {
            diagnostics.push(problem);
            return None;
        }
        // A creation that no other machine knows of could not be asked after, should this one be lost.
        if let Some(begin) = begin.as_ref().filter(|begin| begin.operation == Operation::Create)
            && let Err(problem) = self.recorder.durable().await
        {
            // The call is not made, so that nobody has to ask after it.
            diagnostics.extend(self.recorder.resolved(&begin.address, begin.deposed.as_ref()).err());
            diagnostics.push(problem);
            return None;
        }
        let input = ApplyInput {
            prior: prior.value,
            prior_private: prior.private,
            prior_identity: prior.identity,
            planned: planned.state,
            config,
            private: planned.private,
            identity: planned.identity,
            meta: self.target.meta.clone(),
        };
        let (applied, problems) = self.target.provider.apply(&self.target.subject(), input).await;
        diagnostics.append(problems);
        *end = match (applied.fate, begin) {
            // An unsent request cannot have changed anything, so nothing is uncertain about the object.
            (CallFate::Unsent, _) => CallEnd::NotBegun,
            (CallFate::NoResponse, Some(begin)) => {
                let repeatable = if begin.request.is_some() { Repeatable::Yes } else { Repeatable::No };
                CallEnd::Lost(begin, repeatable)
            }
            (CallFate::NoResponse, None) | (CallFate::Answered, _) => CallEnd::Known,
        };
        Some(applied)
    }

    /// Returns the final planned object, and the configuration that it follows from.
    async fn decide(&self, prior: &Object, diagnostics: &mut Diagnostics) -> Option<(Planned, Value)> {
        match self.operation {
            // A deletion has only one possible result, so no second plan is requested.
            Operation::Delete => {
                let null = self.target.schema.block.null_value();
                let planned = Planned {
                    state: null.clone(),
                    requires_replace: Vec::new(),
                    private: Arc::clone(&self.planned_private),
                    identity: prior.identity.clone(),
                    legacy_type_system: false,
                    deferred: None,
                };
                Some((planned, null))
            }
            Operation::Create | Operation::Update => {
                // The ignored arguments are taken from the object as it is now, not as it was planned (PL-20).
                let config = ignore_changes(&self.target.schema.block, &self.ignore, &prior.value, self.config.clone());
                let planned = match self.final_initial_plan(&config) {
                    Some(planned) => planned,
                    None => self.plan_again(prior, &config, diagnostics).await?,
                };
                Some((planned, config))
            }
        }
    }

    /// Reports the start of the change before the apply call, unless that was done before or is left to the result writer.
    fn announce(&self) -> Beginning {
        match &self.announcement {
            Announcement::LeftToWriter => Beginning::LeftToWriter,
            Announcement::AtOnce(_) => Beginning::Reported,
            Announcement::Due(notice) => {
                notice.give();
                Beginning::Reported
            }
        }
    }

    /// Returns the initial plan of a creation if it is already the final one, so that the second plan call can be skipped.
    fn final_initial_plan(&self, config: &Value) -> Option<Planned> {
        let is_final = self.operation == Operation::Create
            && self.target.provider.is_final(&self.target.subject(), config, &self.initial);
        is_final.then(|| Planned {
            state: self.initial.clone(),
            requires_replace: Vec::new(),
            private: Arc::clone(&self.planned_private),
            identity: None,
            legacy_type_system: false,
            deferred: None,
        })
    }

    /// Plans again with known values, and compares the final plan with the initial one (LC-06, LC-10, LC-11).
    async fn plan_again(&self, prior: &Object, config: &Value, diagnostics: &mut Diagnostics) -> Option<Planned> {
        let problems = self.target.provider.validate(&self.target.subject(), config).await;
        let invalid = problems.has_errors();
        diagnostics.append(problems);
        if invalid {
            // An invalid configuration is reported by validation; planning it would report it a second time.
            return None;
        }
        let input = PlanInput {
            purpose: PlanPurpose::Change,
            prior: prior.value.clone(),
            config: config.clone(),
            // The planned bytes belong to the plan of a creation; an existing object has its own private data.
            private: if prior.value.is_null() { Arc::clone(&self.planned_private) } else { Arc::clone(&prior.private) },
            identity: prior.identity.clone(),
            meta: self.target.meta.clone(),
            capabilities: capabilities(),
        };
        let (planned, problems) = self.target.provider.plan(&self.target.subject(), input).await;
        diagnostics.append(problems);
        let mut planned = planned?;
        // Providers of the legacy SDK may change ignored arguments in their plan, so these are restored there as well.
        if planned.legacy_type_system {
            planned.state = ignore_changes(&self.target.schema.block, &self.ignore, &prior.value, planned.state);
        }
        // Replacement was not planned, so its deletion was neither ordered nor shown to the user (LC-10).
        if !planned.requires_replace.is_empty() {
            let (initial, last) = (Action::Update.names().join(" then "), "replacement");
            diagnostics.push(self.target.provider.action_changed(&self.target.subject(), &initial, last));
            return None;
        }
        let broken = self.target.provider.check_final_plan(&self.target.subject(), &self.initial, &planned.state);
        let sound = !broken.has_errors();
        diagnostics.append(broken);
        sound.then_some(planned)
    }

    /// Returns the `provider_meta` value in the journal's encoding.
    fn encoded_meta(&self) -> Arc<[u8]> {
        let declared = self.target.provider.schema().ok().filter(|_| !self.target.meta.is_null());
        let encoded = declared.and_then(|declared| {
            let ty = declared.meta.as_ref()?.block.implied_type().clone();
            msgpack::encode(&self.target.meta.unmark_deep().0, &ty).ok()
        });
        encoded.map(Into::into).unwrap_or_default()
    }

    /// Returns the journal's record of the call, written before the provider is called.
    fn begin(&self, planned: &Planned, config: &Value) -> Begin {
        Begin {
            address: self.target.address.clone(),
            deposed: self.target.deposed.clone(),
            operation: self.operation,
            provider: (*self.provider_config).clone(),
            request: self.request(planned, config),
            dependencies: self.circumstances.dependencies.clone(),
            create_before_destroy: self.circumstances.create_before_destroy,
            is_kept: self.circumstances.is_kept,
            status: self.circumstances.status,
        }
    }

    /// Returns the request that the next run repeats if this one is killed during the call; `None` for a call that is not repeated.
    ///
    /// A request with write-only or ephemeral values is never repeated: these values must not be on any disk (LC-29), and without them
    /// the provider would create another object.
    fn request(&self, planned: &Planned, config: &Value) -> Option<CreateRequest> {
        let is_repeatable = self.operation == Operation::Create
            && self.target.provider.schema().is_ok_and(|declared| declared.capabilities.repeatable_create);
        // The metadata of the module can be ephemeral, too, and is part of the request.
        let is_ephemeral = [config, &self.target.meta].iter().any(|value| value.deep_marks().is_ephemeral());
        if !is_repeatable || is_ephemeral || !self.target.schema.block.write_only_values(config).is_empty() {
            return None;
        }
        let ty = self.target.schema.block.implied_type();
        let encode = |value: &Value| msgpack::encode(&value.unmark_deep().0, ty).ok().map(Arc::from);
        Some(CreateRequest {
            schema_version: self.target.schema.version,
            planned_private: Arc::clone(&planned.private),
            planned_state: encode(&planned.state)?,
            config: encode(config)?,
            meta: self.encoded_meta(),
        })
    }
}
