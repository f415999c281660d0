//! The conversation with a provider that carries out one change.

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

/// One change to carry out.
pub(super) struct ApplyCall {
    pub(super) target: CallTarget,
    pub(super) provider_config: Arc<ProviderConfig>,
    pub(super) operation: Operation,
    /// The object as recorded; none for a creation.
    pub(super) record: Option<Arc<ObjectRecord>>,
    /// The configuration, evaluated again; null for a deletion.
    pub(super) config: Value,
    /// The object after the change, as the plan has it.
    pub(super) initial: Value,
    /// The provider's bytes of the plan.
    pub(super) planned_private: Arc<[u8]>,
    pub(super) ignore: Ignore,
    /// The metadata to record with the object if the change succeeds.
    pub(super) circumstances: Circumstances,
    pub(super) recorder: Arc<dyn Recorder>,
    pub(super) announcement: Announcement,
}

/// Where the beginning of a change is reported.
pub(super) enum Announcement {
    /// The conversation, before anything else.
    AtOnce(Notice),
    /// By the provider call itself, once it is certain that the object changes.
    Due(Notice),
    /// The result writer, once it is done.
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

/// Whether the beginning of a change was reported. With all values known a planned change may turn out to be none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Beginning {
    Told,
    Untold,
    /// It began, and the result writer is to tell it.
    LeftToWriter,
}

/// What came of it.
pub(super) struct ApplyCallResult {
    /// The object now; none when the provider was never asked.
    pub(super) applied: Option<Applied>,
    /// Whether its beginning was reported.
    pub(super) beginning: Beginning,
    /// The time of the announcement, if it was made during the call. The start of the provider comes before, and does
    /// not count.
    pub(super) started: Option<Instant>,
    /// The end of the call.
    pub(super) end: CallEnd,
    pub(super) diagnostics: Diagnostics,
}

/// The end of the provider call that carries out a change.
pub(super) enum CallEnd {
    /// The provider answered, or there was nothing to ask.
    Known,
    /// The provider did not answer, so what became of the object is unknown. Has the journal's note of the call, and
    /// whether the provider can be asked for the same object again.
    Lost(Box<Begin>, Repeatable),
    /// The provider had ended before it was asked to change anything.
    NotBegun,
}

/// Whether a creation can be requested again without creating a second object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeatable {
    Yes,
    No,
}

impl ApplyCall {
    /// Reports the beginning of the change, if that has to precede everything else.
    pub(super) fn announce_at_once(&self) {
        if let Announcement::AtOnce(notice) = &self.announcement {
            notice.give();
        }
    }

    pub(super) async fn run(self: Box<Self>) -> ApplyCallResult {
        let mut diagnostics = Diagnostics::new();
        let mut beginning = match self.announcement {
            Announcement::AtOnce(_) => Beginning::Told,
            Announcement::Due(_) | Announcement::LeftToWriter => Beginning::Untold,
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
        // What is nowhere but in the state is lost with it: there would be nothing to ask after.
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
                let planned = match self.placement(&config) {
                    Some(planned) => planned,
                    None => self.plan_again(prior, &config, diagnostics).await?,
                };
                Some((planned, config))
            }
        }
    }

    /// Reports the beginning of the change, if that is to be done here.
    fn announce(&self) -> Beginning {
        match &self.announcement {
            Announcement::LeftToWriter => Beginning::LeftToWriter,
            Announcement::AtOnce(_) => Beginning::Told,
            Announcement::Due(notice) => {
                notice.give();
                Beginning::Told
            }
        }
    }

    /// The plan to create an object, where asking for it again could give nothing else.
    fn placement(&self, config: &Value) -> Option<Planned> {
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

    /// The final plan, held against the initial one (LC-06, LC-10, LC-11).
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

    /// Returns what the journal must hold before the provider is called.
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

    /// Returns the request that the next run repeats if this one is killed during the call; none where it would not.
    ///
    /// A request with write-only or ephemeral values is never repeated: these values must not be on any disk (LC-29),
    /// and without them the provider would make another object.
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
