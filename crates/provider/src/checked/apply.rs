//! Apply (plugin-protocol 4.2).

use groma_diagnostics::Diagnostics;
use groma_value::Value;

use super::blame::summary;
use super::identity::Openness;
use super::marks::{Unmarked, restore, secret_paths};
use super::{Checked, Subject};
use crate::contract::{Secrets, check_compatible, check_shape, check_unknowns, check_write_only, without_write_only};
use crate::protocol::{ApplyRequest, ApplyResponse, Private};
use crate::{Answer, CallFate};

/// What an apply is asked to do.
#[derive(Clone, Debug, Default)]
pub struct ApplyInput {
    /// The object now; null when it is to be created.
    pub prior: Value,
    /// What the provider keeps with it.
    pub prior_private: Private,
    /// Its identity.
    pub prior_identity: Option<Value>,
    /// The final plan; null when the object is to be deleted.
    pub planned: Value,
    /// The configuration; null when the object is to be deleted.
    pub config: Value,
    /// The bytes of the plan.
    pub private: Private,
    /// The identity of the plan.
    pub identity: Option<Value>,
    /// The module's `provider_meta` values; null when there are none.
    pub meta: Value,
}

/// What there is after an apply, also after one that failed.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The object to be recorded, with marks; null when there is none. After an error without an object this is the
    /// prior one, with all that was kept with it (LC-16).
    pub state: Value,
    /// What the provider keeps with it.
    pub private: Private,
    /// Its identity.
    pub identity: Option<Value>,
    /// Whether the apply failed: an object that was being created is then tainted.
    pub failed: bool,
    /// The fate of the call. Without an answer, the real object may differ from `state`.
    pub fate: CallFate,
}

impl Checked {
    /// Makes a change. What is returned is to be recorded, whatever the diagnostics say.
    pub fn apply<'a>(&'a self, subject: &Subject<'a>, input: ApplyInput) -> Answer<'a, (Applied, Diagnostics)> {
        let subject = *subject;
        let before =
            Before { state: input.prior.clone(), private: input.prior_private, identity: input.prior_identity };
        let (prior, planned) = (Unmarked::of(input.prior), Unmarked::of(input.planned));
        let request = ApplyRequest {
            type_name: subject.type_name(),
            prior_state: prior.value,
            planned_state: planned.value.clone(),
            config: Unmarked::of(input.config).value,
            planned_private: input.private,
            meta: input.meta,
            planned_identity: input.identity,
        };
        self.provider.apply_resource(request).map(move |response| self.applied(&subject, before, &planned, response))
    }

    fn applied(
        &self,
        subject: &Subject<'_>,
        before: Before,
        planned: &Unmarked,
        mut response: ApplyResponse,
    ) -> (Applied, Diagnostics) {
        let fate = response.diagnostics.fate();
        let mut diagnostics = subject.place(std::mem::take(&mut response.diagnostics));
        let state = self.check_result(subject, planned, &mut response, &mut diagnostics);
        if let Some(identity) = response.new_identity.as_ref().filter(|identity| !identity.is_null()) {
            let broken = self.check_identity(subject, identity, Openness::Over);
            if !broken.is_empty() {
                response.new_identity = None;
                diagnostics.append(broken);
            }
        }
        let failed = diagnostics.has_errors();
        let deletes = planned.value.is_null();
        let applied = match state {
            Some(state) if !(failed && (deletes || state.is_null())) => Applied {
                state: restore(&subject.schema.block, state, &planned.marks),
                private: response.private,
                identity: response.new_identity.or(before.identity.filter(|_| failed)),
                failed,
                fate,
            },
            _ => Applied { state: before.state, private: before.private, identity: before.identity, failed, fate },
        };
        (applied, diagnostics)
    }

    /// A2 to A7; the object that may be kept, or none.
    fn check_result(
        &self,
        subject: &Subject<'_>,
        planned: &Unmarked,
        response: &mut ApplyResponse,
        diagnostics: &mut Diagnostics,
    ) -> Option<Value> {
        let block = &subject.schema.block;
        let secret = secret_paths([&planned.marks]);
        let secrets = Secrets::new(block, &secret);
        let failed = diagnostics.has_errors();
        let Some(mut state) = response.new_state.take() else {
            if !failed {
                diagnostics.push(self.blame(subject, summary::INVALID_OBJECT, "returned no object at all for"));
            }
            return None;
        };
        let shape = check_shape(block.implied_type(), &state);
        if !shape.is_empty() {
            let did = "returned an object of the wrong type for";
            diagnostics.append(self.violations(subject, summary::INVALID_OBJECT, did, &shape, secrets));
            return None;
        }
        let kept = check_write_only(block, &state);
        if !kept.is_empty() {
            let did = "returned a value that must not be kept for";
            diagnostics.append(self.violations(subject, summary::INVALID_OBJECT, did, &kept, secrets));
            // What exists must not be forgotten because of it.
            state = without_write_only(block, &state);
        }
        let deletes = planned.value.is_null();
        let whole = state.clone();
        if !state.is_wholly_known() {
            let unknown = check_unknowns(&state);
            let did = "left a value unknown after apply:";
            diagnostics.append(self.violations(subject, summary::INVALID_RESULT, did, &unknown, secrets));
            state = state.unknown_as_null();
        }
        if deletes && !state.is_null() && !failed {
            let what = "returned an object after deleting";
            diagnostics.push(self.blame(subject, summary::INVALID_RESULT, what));
        }
        if !deletes && state.is_null() && !failed {
            let what = "returned nothing after creating or changing";
            diagnostics.push(self.blame(subject, summary::INVALID_RESULT, what));
        }
        if !deletes && !diagnostics.has_errors() {
            let wrong = check_compatible(block, &planned.value, &whole);
            let did = "returned after apply something else than it had planned:";
            let broken = self.violations(subject, summary::INCONSISTENT_RESULT, did, &wrong, secrets);
            if response.legacy_type_system { self.tolerate(broken) } else { diagnostics.append(broken) }
        }
        Some(state)
    }
}

/// An object before a change, with what is kept with it.
struct Before {
    state: Value,
    private: Private,
    identity: Option<Value>,
}
