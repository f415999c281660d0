//! Creations that an interrupted run began and whose result nobody knows: the provider is asked again.

use std::sync::Arc;

use groma_address::ProviderConfig;
use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_provider::{Applied, ApplyInput, CallFate, Checked, Schema, Subject};
use groma_state::{Begin, CreateRequest, DeposedKey, ObjectRecord, ObjectStatus, Operation, State};
use groma_value::{Value, msgpack};

use crate::call_target::no_meta;
use crate::record::{self, Circumstances, Object};
use crate::recorder::Recorder;

/// The calls that an interrupted run left in flight, and the journal for their results.
pub struct Recovery {
    /// The journal's records of the calls.
    pub in_flight: Vec<Begin>,
    /// The journal of this run.
    pub recorder: Arc<dyn Recorder>,
}

impl std::fmt::Debug for Recovery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recovery").field("in_flight", &self.in_flight).finish_non_exhaustive()
    }
}

/// The result of one recovered call.
pub(crate) struct Recovered {
    pub(crate) begin: Begin,
    pub(crate) schema: Arc<Schema>,
    /// The provider's response; `None` if the provider could not be asked.
    pub(crate) applied: Option<Applied>,
    pub(crate) diagnostics: Diagnostics,
}

impl Recovery {
    /// Returns the calls made through a provider configuration.
    pub(crate) fn of(&self, config: &ProviderConfig) -> Vec<Begin> {
        self.in_flight.iter().filter(|begin| begin.provider == *config).cloned().collect()
    }

    /// Records the result of a recovered call in the journal and the state.
    pub(crate) fn record(&self, state: &mut State, recovered: Recovered) -> Diagnostics {
        let Recovered { begin, schema, applied, mut diagnostics } = recovered;
        let Some(applied) = applied else { return diagnostics };
        let before = state.object(&begin.address, begin.deposed.as_ref()).cloned();
        if applied.state.is_null() {
            diagnostics.extend(self.settle(state, &begin, before).err());
            return diagnostics;
        }
        let circumstances = Circumstances {
            status: if applied.failed { ObjectStatus::Tainted } else { begin.status },
            dependencies: begin.dependencies.clone(),
            create_before_destroy: begin.create_before_destroy,
            is_kept: begin.is_kept,
        };
        let object = Object { value: applied.state, private: applied.private, identity: applied.identity };
        match record::encode(&schema, &object, circumstances) {
            Ok(record) => {
                let record = Arc::new(record);
                let outcome = groma_state::Outcome::Present(Arc::clone(&record));
                // Another program may have put another object there since; neither may be forgotten.
                let is_taken = before.as_ref().is_some_and(|before| !before.is_same_object(&record));
                let deposed = is_taken.then(DeposedKey::generate);
                let deposed = deposed.as_ref().or(begin.deposed.as_ref());
                let before = if is_taken { None } else { before.as_deref() };
                let mut noted = self.recorder.finished(&begin.address, deposed, &begin.provider, before, outcome);
                if is_taken {
                    noted = noted.and_then(|()| self.recorder.resolved(&begin.address, begin.deposed.as_ref()));
                    diagnostics.push(kept_as_deposed(&begin));
                }
                if let Err(problem) = noted {
                    diagnostics.push(problem);
                }
                // Another run that has asked for the object may have kept it as a deposed one. It is there once.
                let kept = state.get(&begin.address).and_then(|found| {
                    let mut kept = found.deposed.iter().filter(|(key, _)| Some(*key) != deposed);
                    kept.find(|(_, kept)| kept.is_same_object(&record))
                        .map(|(key, kept)| (key.clone(), Arc::clone(kept)))
                });
                state.insert(&begin.address, deposed, &begin.provider, record);
                if let Some((key, kept)) = kept {
                    let gone = groma_state::Outcome::Gone;
                    let noted = self.recorder.finished(&begin.address, Some(&key), &begin.provider, Some(&kept), gone);
                    diagnostics.extend(noted.err());
                    state.remove(&begin.address, Some(&key));
                }
            }
            Err(problem) => {
                diagnostics.push(record::unrecordable(&begin.address, &problem));
            }
        }
        diagnostics
    }

    /// Ends a call in the journal. If it was an update with `destroy = false`, the object keeps that flag, whether or not the update
    /// happened.
    fn settle(&self, state: &mut State, begin: &Begin, before: Option<Arc<ObjectRecord>>) -> Result<(), Diagnostic> {
        let (address, deposed) = (&begin.address, begin.deposed.as_ref());
        if let Some(before) = before.filter(|before| begin.is_kept && !before.is_kept()) {
            let kept = Arc::new((*before).clone().kept(true));
            let outcome = groma_state::Outcome::Present(Arc::clone(&kept));
            state.insert(address, deposed, &begin.provider, kept);
            return self.recorder.finished(address, deposed, &begin.provider, Some(&before), outcome);
        }
        self.recorder.resolved(address, deposed)
    }
}

/// Requests a creation of a killed run again. Updates and deletions are not requested again: reading the object shows their result.
pub(crate) async fn ask_again(provider: &Checked, begin: Begin, schema: Arc<Schema>) -> Recovered {
    let null = schema.block.null_value();
    let nothing = |begin, schema, diagnostics| Recovered {
        begin,
        schema,
        applied: Some(Applied {
            state: null.clone(),
            private: Arc::default(),
            identity: None,
            failed: false,
            fate: CallFate::Answered,
        }),
        diagnostics,
    };
    if begin.operation != Operation::Create {
        return nothing(begin, schema, Diagnostics::new());
    }
    let declared = provider.schema().ok();
    let repeatable = declared.as_ref().is_some_and(|declared| declared.capabilities.repeatable_create);
    let ty = schema.block.implied_type();
    let decoded = |bytes: &[u8]| msgpack::decode(bytes, ty).ok();
    let meta = |request: &CreateRequest| match &*request.meta {
        [] => Some(no_meta()),
        bytes => msgpack::decode(bytes, declared.as_ref()?.meta.as_ref()?.block.implied_type()).ok(),
    };
    let request =
        begin.request.as_ref().filter(|request| request.schema_version == schema.version && repeatable).and_then(
            |request| Some((request, decoded(&request.planned_state)?, decoded(&request.config)?, meta(request)?)),
        );
    let Some((request, planned, config, meta)) = request else {
        let warning = cannot_repeat(&begin);
        return nothing(begin, schema, warning.into());
    };
    let subject = Subject { address: &begin.address, schema: &schema, body: None, span: Span::NONE };
    let input = ApplyInput {
        prior: Value::null(ty.clone()),
        prior_private: Arc::default(),
        prior_identity: None,
        planned,
        config,
        private: Arc::clone(&request.planned_private),
        identity: None,
        meta,
    };
    let (applied, diagnostics) = provider.apply(&subject, input).await;
    // What is wrong with the object is said again by the plan that follows; here it is only news.
    let problems = diagnostics.into_iter().map(|mut problem| {
        problem.severity = groma_diagnostics::Severity::Warning;
        problem
    });
    let mut problems: Diagnostics = problems.collect();
    if !applied.state.is_null() {
        problems.push(recovered_warning(&begin));
    }
    // Without an answer nothing is known now that was not known before: the journal keeps the call.
    let applied = (applied.fate == CallFate::Answered).then_some(applied);
    Recovered { begin, schema, applied, diagnostics: problems }
}

fn cannot_repeat(begin: &Begin) -> Diagnostic {
    let detail = format!(
        "An earlier run was killed, or its provider process ended, while {} was being created, and its provider \
         cannot report the result. The object may exist although the state does not contain it. Check for it before \
         you continue, and import or delete it, so that no second one is created.",
        begin.address
    );
    Diagnostic::warning("Operation of an interrupted run has an unknown result", detail).about(&begin.address)
}

fn kept_as_deposed(begin: &Begin) -> Diagnostic {
    let detail = format!(
        "An earlier run was killed, or its provider process ended, while {} was being created, and another run has \
         since created another object at this address. Both exist. The state contains the object of the killed run \
         as a deposed object, which the next apply destroys. To keep it, remove it from the state first.",
        begin.address
    );
    Diagnostic::warning("Object of an interrupted run kept as deposed", detail).about(&begin.address)
}

fn recovered_warning(begin: &Begin) -> Diagnostic {
    let detail = format!(
        "An earlier run was killed, or its provider process ended, while {} was being created. The request was \
         repeated, and the provider returned the same object, which is now in the state. No second object was \
         created.",
        begin.address
    );
    Diagnostic::warning("Object of an interrupted run was recovered", detail).about(&begin.address)
}
