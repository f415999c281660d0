//! Applying a planned change through a checked provider (plugin-protocol 4.2).

use groma_diagnostics::Diagnostics;
use groma_value::Value;

use super::contract_errors::summary;
use super::response::Unknowns;
use super::response::{Unmarked, restore, secret_paths};
use super::{Checked, Subject};
use crate::contract::{Secrets, check_compatible, check_shape, check_unknowns, check_write_only, without_write_only};
use crate::protocol::{ApplyRequest, ApplyResponse, Private};
use crate::{Answer, CallFate};

/// The arguments of an apply call.
#[derive(Clone, Debug, Default)]
pub struct ApplyInput {
    /// The object before the change; null for a creation.
    pub prior: Value,
    /// The provider's private data stored with the prior object.
    pub prior_private: Private,
    /// The identity stored with the prior object.
    pub prior_identity: Option<Value>,
    /// The final plan; null for a deletion.
    pub planned: Value,
    /// The configuration; null for a deletion.
    pub config: Value,
    /// The private data returned by the plan.
    pub private: Private,
    /// The identity returned by the plan.
    pub identity: Option<Value>,
    /// The module's `provider_meta` values; null without a `provider_meta` block.
    pub meta: Value,
}

/// The result of an apply, to be recorded even if the apply failed.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The object to record, with marks; null if no object exists. After an error without a returned object this is the
    /// prior object, along with its private data and identity (LC-16).
    pub state: Value,
    /// The private data to record.
    pub private: Private,
    /// The identity to record.
    pub identity: Option<Value>,
    /// Whether the apply failed. An object that was being created is then tainted.
    pub failed: bool,
    /// Whether the provider answered. Without an answer the real object may differ from `state`.
    pub fate: CallFate,
}

impl Checked {
    /// Applies a planned change. The caller must record the returned object even if the diagnostics have errors.
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
        // Read first, because locating the diagnostics consumes them.
        let fate = response.diagnostics.fate();
        let mut diagnostics = subject.locate(std::mem::take(&mut response.diagnostics));
        // The checks run even after a provider error: a partially created object must not enter the state unchecked.
        let state = self.check_result(subject, planned, &mut response, &mut diagnostics);
        if let Some(identity) = response.new_identity.as_ref().filter(|identity| !identity.is_null()) {
            let broken = self.check_identity(subject, identity, Unknowns::Forbidden);
            if !broken.is_empty() {
                // An invalid identity must not reach the state.
                response.new_identity = None;
                diagnostics.append(broken);
            }
        }
        let failed = diagnostics.has_errors();
        let deletes = planned.value.is_null();
        let applied = match state {
            // A failed deletion or an error without an object says nothing reliable about the object.
            Some(state) if !(failed && (deletes || state.is_null())) => Applied {
                state: restore(&subject.schema.block, state, &planned.marks),
                private: response.private,
                // After a failure the provider may omit the identity although the object exists, so the prior one is
                // kept.
                identity: response.new_identity.or(before.identity.filter(|_| failed)),
                failed,
                fate,
            },
            // A failed deletion keeps the prior object: it probably still exists. So does a failure without an object.
            _ => Applied { state: before.state, private: before.private, identity: before.identity, failed, fate },
        };
        (applied, diagnostics)
    }

    /// Checks rules A2 to A7 and returns the object to record, if there is a usable one.
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
        // After an error, the provider may have stopped halfway, so an incomplete result is not its bug.
        let failed = diagnostics.has_errors();
        let Some(mut state) = response.new_state.take() else {
            if !failed {
                diagnostics.push(self.contract_error(subject, summary::INVALID_OBJECT, "returned no object for"));
            }
            return None;
        };
        let shape = check_shape(block.implied_type(), &state);
        if !shape.is_empty() {
            let did = "returned an object of the wrong type for";
            diagnostics.append(self.contract_errors(subject, summary::INVALID_OBJECT, did, &shape, secrets));
            return None;
        }
        let kept = check_write_only(block, &state);
        if !kept.is_empty() {
            let did = "returned a value that must not be stored for";
            diagnostics.append(self.contract_errors(subject, summary::INVALID_OBJECT, did, &kept, secrets));
            // The object exists, so an error about one attribute must not drop it from the state.
            state = without_write_only(block, &state);
        }
        let deletes = planned.value.is_null();
        // The comparison with the plan below needs the unknowns, which are replaced with null for storage.
        let whole = state.clone();
        if !state.is_wholly_known() {
            let unknown = check_unknowns(&state);
            let did = "left a value unknown after apply:";
            diagnostics.append(self.contract_errors(subject, summary::INVALID_RESULT, did, &unknown, secrets));
            // The state format cannot store unknown values.
            state = state.unknown_as_null();
        }
        // A provider that deleted the object must return null.
        if deletes && !state.is_null() && !failed {
            let what = "returned an object after deleting";
            diagnostics.push(self.contract_error(subject, summary::INVALID_RESULT, what));
        }
        if !deletes && state.is_null() && !failed {
            let what = "returned no object after creating or updating";
            diagnostics.push(self.contract_error(subject, summary::INVALID_RESULT, what));
        }
        // An error explains any difference from the plan, so a second error about it would only distract.
        if !deletes && !diagnostics.has_errors() {
            let violations = check_compatible(block, &planned.value, &whole);
            let did = "returned a result that differs from its plan for";
            let broken = self.contract_errors(subject, summary::INCONSISTENT_RESULT, did, &violations, secrets);
            // LC-17: providers with the legacy type system may differ from their plans. Terraform logs this, too.
            if response.legacy_type_system { self.tolerate(broken) } else { diagnostics.append(broken) }
        }
        Some(state)
    }
}

/// The prior object with its private data and identity, for applies that return no new object.
struct Before {
    state: Value,
    private: Private,
    identity: Option<Value>,
}
