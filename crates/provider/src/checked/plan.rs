//! Planning through a checked provider (plugin-protocol 4.1).

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_value::{Kind, Path, PathMarks, Value};

use super::contract_errors::summary;
use super::response::Unknowns;
use super::response::no_violations;
use super::response::{Unmarked, restore, secret_paths};
use super::{Checked, Subject};
use crate::contract::{Secrets, Violation, check_compatible, check_planned, check_shape, check_write_only};
use crate::proposed::proposed_new_state;
use crate::protocol::{ClientCapabilities, Deferred, PlanRequest, PlanResponse, Private};
use crate::schema::{Block, Item, Slot, Use};
use crate::{Answer, Schema};

/// The purpose of a plan call, which decides which checks apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PlanPurpose {
    /// Creation, update or deletion of an object.
    #[default]
    Change,
    /// Creation of the replacement of an object: the second plan call, without a prior object (P6).
    Replacement,
    /// A placeholder for instances whose number is still unknown (P7).
    Placeholder,
}

/// The arguments of a plan call.
#[derive(Clone, Debug, Default)]
pub struct PlanInput {
    /// The purpose, which decides which rules the response must obey.
    pub purpose: PlanPurpose,
    /// The object in the refreshed state; null for a creation.
    pub prior: Value,
    /// The configuration; null for a deletion.
    pub config: Value,
    /// The provider's private data stored with the object.
    pub private: Private,
    /// The identity stored with the object.
    pub identity: Option<Value>,
    /// The module's `provider_meta` values; null without a `provider_meta` block.
    pub meta: Value,
    /// The optional protocol features that the engine supports.
    pub capabilities: ClientCapabilities,
}

/// A plan that satisfies the contract.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The object after the change, with marks; null for a deletion.
    pub state: Value,
    /// The changed attributes that force a replacement; empty without a prior object.
    pub requires_replace: Vec<Path>,
    /// Private data for the apply call.
    pub private: Private,
    /// The identity after the change.
    pub identity: Option<Value>,
    /// Whether the provider is exempt from some checks; `ignore_changes` must then be applied to the result again (P4).
    pub legacy_type_system: bool,
    /// The reason of the deferral, if the provider deferred the change.
    pub deferred: Option<Deferred>,
}

impl Checked {
    /// Plans a change; computes the proposed new state itself (LC-04).
    ///
    /// The result is `None` if the provider returned errors or violated the contract.
    pub fn plan<'a>(&'a self, subject: &Subject<'a>, input: PlanInput) -> Answer<'a, (Option<Planned>, Diagnostics)> {
        let subject = *subject;
        // Providers that predate the capability cannot handle a null configuration.
        if input.config.is_null() && !self.capabilities().plan_destroy {
            return Answer::ready((Some(Planned::deletion(subject.schema, input)), Diagnostics::new()));
        }
        // Marks never reach a provider. They are kept here and restored on its response (LC-30).
        let prior = Unmarked::of(input.prior);
        let config = Unmarked::of(input.config);
        let request = PlanRequest {
            type_name: subject.type_name(),
            proposed_new_state: proposed_new_state(&subject.schema.block, &prior.value, &config.value),
            prior_state: prior.value.clone(),
            config: config.value.clone(),
            prior_private: input.private,
            meta: input.meta,
            client_capabilities: input.capabilities,
            prior_identity: input.identity,
        };
        let expectation = Expectation { purpose: input.purpose, prior, config, capabilities: input.capabilities };
        self.provider.plan_resource(request).map(move |response| self.planned(&subject, &expectation, response))
    }

    fn planned(
        &self,
        subject: &Subject<'_>,
        expectation: &Expectation,
        mut response: PlanResponse,
    ) -> (Option<Planned>, Diagnostics) {
        subject.checked(std::mem::take(&mut response.diagnostics), || {
            self.check_plan(subject, expectation, &response)?;
            self.check_planned_identity(subject, expectation, &response)?;
            Ok(Planned {
                requires_replace: self.replaced_paths(subject, expectation, &response)?,
                state: restore(&subject.schema.block, response.planned_state, &expectation.config.marks),
                private: response.planned_private,
                identity: response.planned_identity,
                legacy_type_system: response.legacy_type_system,
                deferred: response.deferred,
            })
        })
    }

    /// Checks rules P1 to P4 and P6 to P8.
    fn check_plan(
        &self,
        subject: &Subject<'_>,
        expectation: &Expectation,
        response: &PlanResponse,
    ) -> Result<(), Diagnostics> {
        let block = &subject.schema.block;
        let secret = expectation.secrets();
        let secrets = Secrets::new(block, &secret);
        let invalid = |violations: &[Violation]| {
            self.contract_errors(subject, summary::INVALID_PLAN, "planned an invalid value for", violations, secrets)
        };
        // A deferral that the engine did not offer is a violation, so it is checked before it is trusted.
        self.check_deferral(subject, response.deferred, expectation.capabilities, "plan")?;
        // All later checks rely on the type of the value.
        no_violations(invalid(&check_shape(block.implied_type(), &response.planned_state)))?;
        // A deferred plan is only an estimate, so it is checked for its type alone.
        if response.deferred.is_some() {
            return Ok(());
        }
        if expectation.config.value.is_null() {
            // The only valid plan of a deletion is the null object.
            if response.planned_state.is_null() {
                return Ok(());
            }
            let what = "planned a non-null object for the deletion of";
            return Err(self.contract_error(subject, summary::INVALID_PLAN, what).into());
        }
        // A placeholder is never applied or stored, so it cannot leak write-only values.
        if expectation.purpose != PlanPurpose::Placeholder {
            no_violations(invalid(&check_write_only(block, &response.planned_state)))?;
        }
        // A replacement has no prior object to compare with, and the first plan call was checked against the
        // configuration.
        if expectation.purpose == PlanPurpose::Replacement {
            return Ok(());
        }
        let violations = invalid(&check_planned(
            block,
            &expectation.prior.value,
            &expectation.config.value,
            &response.planned_state,
        ));
        if response.legacy_type_system {
            // SDKv2 providers normalize values in their plans, and Terraform accepts this from them.
            self.tolerate(violations);
            return Ok(());
        }
        no_violations(violations)
    }

    /// Checks P9: an identity conforms to its schema, and is wholly known unless the object will be created.
    fn check_planned_identity(
        &self,
        subject: &Subject<'_>,
        expectation: &Expectation,
        response: &PlanResponse,
    ) -> Result<(), Diagnostics> {
        // A replacement gets a new identity, which only apply can know.
        let creates = expectation.prior.value.is_null() || !response.requires_replace.is_empty();
        let unknowns = if creates { Unknowns::Allowed } else { Unknowns::Forbidden };
        match response.planned_identity.as_ref().filter(|identity| !identity.is_null()) {
            Some(identity) => no_violations(self.check_identity(subject, identity, unknowns)),
            None => Ok(()),
        }
    }

    /// Returns the paths whose values change and thus force a replacement (P5): every path must exist; nulls of all
    /// types are equal.
    fn replaced_paths(
        &self,
        subject: &Subject<'_>,
        expectation: &Expectation,
        response: &PlanResponse,
    ) -> Result<Vec<Path>, Diagnostics> {
        let (prior, planned) = (&expectation.prior.value, &response.planned_state);
        // Without a prior or a planned object there is nothing to replace: this is a creation or a deletion.
        if response.requires_replace.is_empty() || prior.is_null() || planned.is_null() {
            return Ok(Vec::new());
        }
        let mut changed = Vec::new();
        let mut missing = Diagnostics::new();
        for path in &response.requires_replace {
            match (prior.path_get(path), planned.path_get(path)) {
                // Nulls of different types are equal here: a dynamic attribute may change its type while it stays
                // null.
                (Ok(before), Ok(after)) if before == after || before.is_null() && after.is_null() => {}
                (Err(_), Err(_)) => {
                    let what = format!("requires replacement because of {path}, which does not exist in");
                    missing.push(self.contract_error(subject, summary::INVALID_PLAN, &what));
                }
                // A path in only one of the two objects is a change too, such as an element that was added.
                _ => changed.push(path.clone()),
            }
        }
        if missing.is_empty() { Ok(changed) } else { Err(missing) }
    }

    /// Compares the final plan with the initial one (A1; LC-10, LC-11). No provider is exempt.
    pub fn check_final_plan(&self, subject: &Subject<'_>, initial: &Value, last: &Value) -> Diagnostics {
        let (initial, last) = (Unmarked::of(initial.clone()), Unmarked::of(last.clone()));
        let block = &subject.schema.block;
        let violations = check_compatible(block, &initial.value, &last.value);
        let secret = secret_paths([&initial.marks, &last.marks]);
        let did = "changed its plan after unknown values became known:";
        self.contract_errors(subject, summary::INCONSISTENT_PLAN, did, &violations, Secrets::new(block, &secret))
    }

    /// Whether the initial plan to create an object is also the final one, so that the second plan call can be skipped.
    ///
    /// That is so if the provider is pure and the configuration is still the planned one (LC-06, LC-07). Arguments that
    /// were unknown in the plan are unknown in `initial` and thus differ from the now known configuration. If such an
    /// argument became null, the plan had left its value to the apply anyway.
    pub fn is_final(&self, subject: &Subject<'_>, config: &Value, initial: &Value) -> bool {
        let block = &subject.schema.block;
        let is_plain = |value: &Value| !value.has_marks() && !value.is_null();
        self.is_pure()
            // The plan contains no write-only values, so it cannot show whether they are still the same.
            && !block.contains_write_only()
            && is_plain(config)
            && is_plain(initial)
            && config.is_wholly_known()
            && !has_become_known(block, config, initial)
            && check_planned(block, &block.null_value(), config, initial).is_empty()
    }

    /// Creates the error for a final plan with another action than the initial plan (A0).
    pub fn action_changed(&self, subject: &Subject<'_>, initial: &str, last: &str) -> Diagnostic {
        let what = format!("changed the planned action from {initial} to {last} for");
        self.contract_error(subject, summary::INCONSISTENT_PLAN, &what)
    }
}

impl Planned {
    /// Creates the plan of a deletion without a call, for providers without the `plan_destroy` capability
    /// (plugin-protocol 1.3).
    fn deletion(schema: &Schema, input: PlanInput) -> Self {
        Self {
            state: schema.block.null_value(),
            requires_replace: Vec::new(),
            private: input.private,
            identity: input.identity,
            legacy_type_system: false,
            deferred: None,
        }
    }
}

/// The inputs of a plan call that its response is checked against.
struct Expectation {
    purpose: PlanPurpose,
    prior: Unmarked,
    config: Unmarked,
    capabilities: ClientCapabilities,
}

impl Expectation {
    fn secrets(&self) -> Vec<Path> {
        // The common case has no secrets and allocates nothing.
        if self.prior.marks.is_empty() && self.config.marks.is_empty() {
            return Vec::new();
        }
        let marks: [&PathMarks; 2] = [&self.prior.marks, &self.config.marks];
        secret_paths(marks)
    }
}

/// Whether an argument is known now that was unknown in the plan to create `initial`. A cheap test that precedes the
/// full comparison, since it runs for every creation.
fn has_become_known(block: &Block, config: &Value, initial: &Value) -> bool {
    let (Kind::Object(config), Kind::Object(initial)) = (config.kind(), initial.kind()) else { return false };
    let is_argument =
        |slot: &Slot| matches!(&slot.item, Item::Attribute(attribute) if attribute.usage() != Use::Computed);
    let mut values = block.slots().iter().zip(config.values()).zip(initial.values());
    values.any(|((slot, config), initial)| is_argument(slot) && !config.is_null() && !initial.is_known())
}
