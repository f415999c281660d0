//! The plan: the actions of a run with their reasons, as views show it and as apply executes it.

use groma_address::{AbsResource, Mode as ResourceMode, Name, ResourceInstance, Target};
use groma_diagnostics::Diagnostic;
use groma_state::{CheckResult, State};
use groma_value::{Number, Path, Value};

use crate::change::Action;
use crate::change::{OutputChange, ResourceChange};
use crate::deferral::{DeferredChange, DeferredInvocation};
use crate::execution::ExecutionGraph;
use crate::expansion::Expansions;
use crate::invocation::Invocation;

/// The kind of plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Make the objects match the configuration.
    #[default]
    Normal,
    /// Delete every object (PL-62).
    Destroy,
    /// Record changes made outside of Terraform, without planning actions (PL-61).
    RefreshOnly,
}

/// A resource block generated for an import.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// The import identifier, unless the object was imported by identity.
    pub id: Option<String>,
    /// The generated configuration block.
    pub text: String,
}

/// A value of an input variable of the root module, as the plan keeps it.
#[derive(Clone, Debug)]
pub struct PlannedVariable {
    /// The name of the variable.
    pub name: Name,
    /// The value as it was set, before conversion, or the default. Ephemeral values are not part of the plan.
    pub value: Value,
}

/// An attribute of a resource that took part in the decision for some change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RelevantAttribute {
    /// The address of the resource.
    pub resource: AbsResource,
    /// The instance key is part of the path when it is known, as in the plan JSON.
    pub path: Path,
}

/// The planned actions of a run, and everything that apply needs for them. It is immutable: apply executes exactly this. Its saved form
/// does not contain the state, which is a separate member of the plan file.
#[derive(Debug)]
pub struct Plan {
    /// The kind of plan.
    pub mode: Mode,
    /// The changes of all planned objects, `NoOp` included, sorted by address; deposed objects follow the current one.
    pub changes: Vec<ResourceChange>,
    /// Changes that are deferred to a later run.
    pub deferred: Vec<DeferredChange>,
    /// Drift: changes made outside of Terraform since the last run, and moves (with the action `NoOp`), which views hide in normal plans.
    pub drift: Vec<ResourceChange>,
    /// Data sources that a destroy plan removes from the state after all steps, because providers may be configured with them. Empty
    /// for other plans.
    pub disposal: Vec<ResourceInstance>,
    /// Outputs of the root module by name.
    pub outputs: Vec<OutputChange>,
    /// The state after moves, imports and refresh. Apply starts from it and writes it, even if the plan has no steps.
    pub prior_state: State,
    /// The values of the root module's variables.
    pub variables: Vec<PlannedVariable>,
    /// `-target` (PL-64).
    pub targets: Vec<Target>,
    /// `-exclude`.
    pub excludes: Vec<Target>,
    /// `-replace` (PL-60).
    pub replace: Vec<ResourceInstance>,
    /// Results of conditions so far.
    pub checks: Vec<CheckResult>,
    /// The attributes on which the changes depend.
    pub relevant_attributes: Vec<RelevantAttribute>,
    /// Generated configuration of imports without a block, including objects that cannot be planned. Not part of a saved plan.
    pub generated: Vec<Generated>,
    /// Actions to be invoked, in the order in which blocks list them.
    pub invocations: Vec<Invocation>,
    /// Actions that are left to a later run.
    pub deferred_invocations: Vec<DeferredInvocation>,
    /// The time of planning in UTC, RFC 3339; the value of `plantimestamp()`.
    pub timestamp: String,
    /// Whether planning ended with errors; such a plan can be shown, not applied.
    pub errored: bool,
    /// The actions with their order.
    pub execution: ExecutionGraph,
    /// The instances of every module and resource.
    pub expansions: Expansions,
}

impl Plan {
    /// Returns the error for applying a plan whose planning failed. Its prior state includes moves and imports of that planning, so it is
    /// not kept either.
    pub fn refusal(&self) -> Option<Diagnostic> {
        let detail = "Planning failed, and this plan was saved only for inspection. It cannot be applied. Fix the \
         errors and create a new plan.";
        self.errored.then(|| Diagnostic::error("Cannot apply incomplete plan", detail))
    }

    /// Whether apply would do anything: an action, a change of an output, or with `-refresh-only` an update of the state.
    pub fn is_applyable(&self) -> bool {
        if self.errored {
            return false;
        }
        let has_actions = self.changes.iter().any(|change| {
            // A move or an import changes the state even if the object stays as it is.
            change.action != Action::NoOp || change.previous_address.is_some() || change.importing.is_some()
        });
        let changes_outputs = self.outputs.iter().any(|output| output.action != Action::NoOp);
        has_actions
            || changes_outputs
            || !self.invocations.is_empty()
            || (self.mode == Mode::RefreshOnly && self.refreshes_state())
    }

    /// Whether applying a refresh-only plan changes the state. Results of data sources always count as new, as in Terraform.
    fn refreshes_state(&self) -> bool {
        !self.drift.is_empty()
            || self.prior_state.resources().any(|(address, _)| address.resource.mode == ResourceMode::Data)
    }

    /// Whether everything is planned: no error, no `-target` or `-exclude`, and nothing deferred.
    pub fn is_complete(&self) -> bool {
        !self.errored && !self.is_partial() && !self.is_deferring()
    }

    /// Whether it defers a change or an action to a later run.
    pub fn is_deferring(&self) -> bool {
        !self.deferred.is_empty() || !self.deferred_invocations.is_empty()
    }

    /// Whether it was made with `-target` or `-exclude`.
    pub fn is_partial(&self) -> bool {
        !self.targets.is_empty() || !self.excludes.is_empty()
    }

    /// Numbers of objects to add, change and destroy, as the summary line counts them.
    pub fn counts(&self) -> Counts {
        // Imports are counted in addition to the change of the imported object, as in Terraform's summary.
        let mut counts = Counts { invoke: self.invocations.len(), ..Counts::default() };
        for change in &self.changes {
            counts.import += usize::from(change.importing.is_some());
            match change.action {
                Action::Create => counts.add += 1,
                Action::Update => counts.change += 1,
                Action::Delete => counts.destroy += 1,
                Action::DeleteThenCreate | Action::CreateThenDelete => {
                    counts.add += 1;
                    counts.destroy += 1;
                }
                Action::Forget => counts.forget += 1,
                Action::ForgetThenCreate => {
                    counts.add += 1;
                    counts.forget += 1;
                }
                Action::NoOp | Action::Read => {}
            }
        }
        counts
    }
}

/// Numbers for the summary line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Objects to create.
    pub add: usize,
    /// Objects to update in place.
    pub change: usize,
    /// Objects to destroy.
    pub destroy: usize,
    /// Objects to forget: no longer managed, but not destroyed.
    pub forget: usize,
    /// Objects to import.
    pub import: usize,
    /// Actions to invoke.
    pub invoke: usize,
}

/// Returns an output's value as a plan file preserves it. Plans that are not saved use the same value, so that output and state do
/// not depend on the way of applying.
pub fn after_round_trip(value: Value) -> Value {
    let of_number = |part: &Value| part.as_number().and_then(Number::after_round_trip);
    let mut differs = false;
    // Most values contain no such number, and then nothing is copied.
    value.walk(|_, part| {
        differs |= of_number(part).is_some();
        !differs
    });
    if !differs {
        return value;
    }
    value.transform(|_, part| match of_number(&part) {
        Some(number) => Value::number(number).with_marks(part.marks()),
        None => part,
    })
}
