//! Plan (plugin-protocol 4.1).

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_value::{Kind, Path, PathMarks, Value};

use super::blame::summary;
use super::identity::Openness;
use super::marks::{Unmarked, restore, secret_paths};
use super::settle::unbroken;
use super::{Checked, Subject};
use crate::contract::{Secrets, Violation, check_compatible, check_planned, check_shape, check_write_only};
use crate::proposed::proposed_new_state;
use crate::protocol::{ClientCapabilities, Deferred, PlanRequest, PlanResponse, Private};
use crate::schema::{Block, Item, Slot, Use};
use crate::{Answer, Schema};

/// Why a plan is asked for; it decides which checks apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PlanPurpose {
    /// To create, change or delete an object.
    #[default]
    Change,
    /// To create the successor of an object that must be replaced: the second call, with no prior object (P6).
    Replacement,
    /// To stand for instances that are not known yet (P7).
    Placeholder,
}

/// What a plan is asked about.
#[derive(Clone, Debug, Default)]
pub struct PlanInput {
    /// Why.
    pub purpose: PlanPurpose,
    /// The object now; null when there is none.
    pub prior: Value,
    /// The configuration; null when the object is to be deleted.
    pub config: Value,
    /// What the provider keeps with the object.
    pub private: Private,
    /// The object's identity as last known.
    pub identity: Option<Value>,
    /// The module's `provider_meta` values; null when there are none.
    pub meta: Value,
    /// What the engine can handle.
    pub capabilities: ClientCapabilities,
}

/// A plan that keeps the contract.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The object after the change, with marks; null when it will be deleted.
    pub state: Value,
    /// The attributes that really change and need a new object for it; empty unless there is an object now.
    pub requires_replace: Vec<Path>,
    /// Bytes for the apply request.
    pub private: Private,
    /// The identity after the change.
    pub identity: Option<Value>,
    /// Whether the provider is exempt from some checks: `ignore_changes` must be applied to the result again (P4).
    pub legacy_type_system: bool,
    /// That, and why, the provider cannot say yet.
    pub deferred: Option<Deferred>,
}

impl Checked {
    /// Asks what a change will lead to. The proposed new state is worked out here (LC-04).
    ///
    /// There is no plan when the provider returned errors or broke the contract.
    pub fn plan<'a>(&'a self, subject: &Subject<'a>, input: PlanInput) -> Answer<'a, (Option<Planned>, Diagnostics)> {
        let subject = *subject;
        if input.config.is_null() && !self.capabilities().plan_destroy {
            return Answer::ready((Some(Planned::deletion(subject.schema, input)), Diagnostics::new()));
        }
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
        let asked = Asked { purpose: input.purpose, prior, config, capabilities: input.capabilities };
        self.provider.plan_resource(request).map(move |response| self.planned(&subject, &asked, response))
    }

    fn planned(
        &self,
        subject: &Subject<'_>,
        asked: &Asked,
        mut response: PlanResponse,
    ) -> (Option<Planned>, Diagnostics) {
        subject.settled(std::mem::take(&mut response.diagnostics), || {
            self.check_plan(subject, asked, &response)?;
            self.check_planned_identity(subject, asked, &response)?;
            Ok(Planned {
                requires_replace: self.replaced_paths(subject, asked, &response)?,
                state: restore(&subject.schema.block, response.planned_state, &asked.config.marks),
                private: response.planned_private,
                identity: response.planned_identity,
                legacy_type_system: response.legacy_type_system,
                deferred: response.deferred,
            })
        })
    }

    /// P1 to P4, P6 to P8.
    fn check_plan(&self, subject: &Subject<'_>, asked: &Asked, response: &PlanResponse) -> Result<(), Diagnostics> {
        let block = &subject.schema.block;
        let secret = asked.secrets();
        let secrets = Secrets::new(block, &secret);
        let invalid = |violations: &[Violation]| {
            self.violations(subject, summary::INVALID_PLAN, "planned an invalid value for", violations, secrets)
        };
        self.check_deferral(subject, response.deferred, asked.capabilities, "plan")?;
        unbroken(invalid(&check_shape(block.implied_type(), &response.planned_state)))?;
        if response.deferred.is_some() {
            return Ok(());
        }
        if asked.config.value.is_null() {
            if response.planned_state.is_null() {
                return Ok(());
            }
            let what = "planned something other than null to delete";
            return Err(self.blame(subject, summary::INVALID_PLAN, what).into());
        }
        if asked.purpose != PlanPurpose::Placeholder {
            unbroken(invalid(&check_write_only(block, &response.planned_state)))?;
        }
        if asked.purpose == PlanPurpose::Replacement {
            return Ok(());
        }
        let wrong = invalid(&check_planned(block, &asked.prior.value, &asked.config.value, &response.planned_state));
        if response.legacy_type_system {
            self.tolerate(wrong);
            return Ok(());
        }
        unbroken(wrong)
    }

    /// P9: an identity is wholly known, unless the object is yet to be created, and of the identity schema's type.
    fn check_planned_identity(
        &self,
        subject: &Subject<'_>,
        asked: &Asked,
        response: &PlanResponse,
    ) -> Result<(), Diagnostics> {
        let creates = asked.prior.value.is_null() || !response.requires_replace.is_empty();
        let openness = if creates { Openness::Allowed } else { Openness::Over };
        match response.planned_identity.as_ref().filter(|identity| !identity.is_null()) {
            Some(identity) => unbroken(self.check_identity(subject, identity, openness)),
            None => Ok(()),
        }
    }

    /// P5: paths exist, and only those whose value changes count (null is null of any type); without a prior object none does.
    fn replaced_paths(
        &self,
        subject: &Subject<'_>,
        asked: &Asked,
        response: &PlanResponse,
    ) -> Result<Vec<Path>, Diagnostics> {
        let (prior, planned) = (&asked.prior.value, &response.planned_state);
        if response.requires_replace.is_empty() || prior.is_null() || planned.is_null() {
            return Ok(Vec::new());
        }
        let mut changed = Vec::new();
        let mut missing = Diagnostics::new();
        for path in &response.requires_replace {
            match (prior.path_get(path), planned.path_get(path)) {
                (Ok(before), Ok(after)) if before == after || before.is_null() && after.is_null() => {}
                (Err(_), Err(_)) => {
                    let what = format!("asked for a replacement because of {path}, which does not exist, in");
                    missing.push(self.blame(subject, summary::INVALID_PLAN, &what));
                }
                _ => changed.push(path.clone()),
            }
        }
        if missing.is_empty() { Ok(changed) } else { Err(missing) }
    }

    /// Compares the final plan with the initial one (A1; LC-10, LC-11). Nobody is exempt.
    pub fn check_final_plan(&self, subject: &Subject<'_>, initial: &Value, last: &Value) -> Diagnostics {
        let (initial, last) = (Unmarked::of(initial.clone()), Unmarked::of(last.clone()));
        let block = &subject.schema.block;
        let violations = check_compatible(block, &initial.value, &last.value);
        let secret = secret_paths([&initial.marks, &last.marks]);
        let did = "changed its plan when what it depends on became known:";
        self.violations(subject, summary::INCONSISTENT_PLAN, did, &violations, Secrets::new(block, &secret))
    }

    /// Whether the plan to create `initial` is the final one without asking again: the provider would say the same, since
    /// it is pure and the configuration is what the plan took it for (LC-06, LC-07).
    ///
    /// What was unknown in the configuration then is unknown in the plan, so that it differs from what is known now;
    /// where that turned out null, the plan left the value to the apply already.
    pub fn stands(&self, subject: &Subject<'_>, config: &Value, initial: &Value) -> bool {
        let block = &subject.schema.block;
        let is_plain = |value: &Value| !value.has_marks() && !value.is_null();
        self.is_pure()
            && !block.contains_write_only()
            && is_plain(config)
            && is_plain(initial)
            && config.is_wholly_known()
            && !has_become_known(block, config, initial)
            && check_planned(block, &block.null_value(), config, initial).is_empty()
    }

    /// The error that the final plan is to do something else than the initial one (A0).
    pub fn action_changed(&self, subject: &Subject<'_>, initial: &str, last: &str) -> Diagnostic {
        let what = format!("changed the planned action from {initial} to {last} for");
        self.blame(subject, summary::INCONSISTENT_PLAN, &what)
    }
}

impl Planned {
    /// The plan to delete, for providers that do not want to be asked (plugin-protocol 1.3).
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

/// What the answer to a plan request is checked against.
struct Asked {
    purpose: PlanPurpose,
    prior: Unmarked,
    config: Unmarked,
    capabilities: ClientCapabilities,
}

impl Asked {
    fn secrets(&self) -> Vec<Path> {
        if self.prior.marks.is_empty() && self.config.marks.is_empty() {
            return Vec::new();
        }
        let marks: [&PathMarks; 2] = [&self.prior.marks, &self.config.marks];
        secret_paths(marks)
    }
}

/// Whether an argument has a value now that was not known in the plan to create `initial`: a look that is quick, since it is taken at each
/// creation.
fn has_become_known(block: &Block, config: &Value, initial: &Value) -> bool {
    let (Kind::Object(config), Kind::Object(initial)) = (config.kind(), initial.kind()) else { return false };
    let is_argument =
        |slot: &Slot| matches!(&slot.item, Item::Attribute(attribute) if attribute.usage() != Use::Computed);
    let mut values = block.slots().iter().zip(config.values()).zip(initial.values());
    values.any(|((slot, config), initial)| is_argument(slot) && !config.is_null() && !initial.is_known())
}
