//! The end of a run: what it leaves in the state, and what it has to say.

use std::collections::HashSet;

use groma_address::{ConfigResource, Mode as ResourceMode, ResourceInstance};
use groma_diagnostics::Diagnostics;
use groma_plan::{Action, Mode, after_round_trip};
use groma_state::{OutputValue, State};

use super::applier::Applier;
use super::inputs::Inputs;
use crate::hooks::Operation;
use crate::merge_diagnostics::reported_once;
use crate::world::{ModuleId, World};

/// Returns the outcome of the run.
pub(super) fn finish(mut applier: Applier<'_>) -> AppliedRun {
    // Operations without a running provider have no results, so they are added before the recording ends.
    applier.evaluation.diagnostics.append(applier.recording.report_not_begun());
    let (mut state, done) = applier.recording.finish();
    write_outputs(&applier.inputs, &applier.world, &mut state);
    // A failed destroy keeps the results of the previous run, because it decided no condition itself.
    if applier.inputs.mode() != Mode::Destroy || !applier.evaluation.diagnostics.has_errors() {
        state.check_results = Some(applier.evaluation.checks.results());
    }
    // Data sources are dropped last: providers were configured with them until the last deletion.
    take_out(applier.inputs.removed_data(), &mut state);
    let spent = Box::new((applier.world, applier.inputs.into_spent(), applier.steps.into_spent()));
    AppliedRun { state, done, diagnostics: reported_once(applier.evaluation.diagnostics), spent: Some(spent) }
}

/// Stores the outputs that were evaluated; others stay unchanged.
fn write_outputs(inputs: &Inputs<'_>, world: &World, state: &mut State) {
    let root = world.module(ModuleId::ROOT);
    let config = &inputs.graph().module(root.of).config;
    for change in inputs.outputs() {
        // The deletion of an output depends on no step, so it happens even after errors.
        if change.action == Action::Delete {
            state.outputs.remove(&change.name);
            continue;
        }
        let worked_out = config.outputs.get_full(&change.name).and_then(|(at, _, output)| {
            let value = root.outputs.get(at).cloned().flatten()?;
            // Ephemeral outputs are never stored, and unknown values mean that a step failed.
            (value.is_wholly_known() && !output.ephemeral).then_some((value, output))
        });
        if let Some((value, declared)) = worked_out {
            let (value, _) = value.unmark_deep();
            // A value that the plan shows has passed through the plan file's encoding; others are stored as they are.
            let value = if change.after.is_wholly_known() { after_round_trip(value) } else { value };
            // Terraform does not store outputs that are null.
            if value.is_null() {
                state.outputs.remove(&change.name);
                continue;
            }
            // OpenTofu allows deprecated outputs in the root module, and stores the deprecation for readers of the state.
            let (sensitive, deprecated) = (declared.sensitive, declared.deprecated.clone());
            let output = OutputValue { ty: value.ty(), value, sensitive, deprecated };
            state.outputs.insert(change.name.clone(), output);
        }
    }
}

/// Removes data sources that the plan drops from the state, except those that remaining objects depend on.
pub(super) fn take_out(disposal: &[ResourceInstance], state: &mut State) {
    if disposal.is_empty() {
        return;
    }
    // A data source in a recorded dependency is still needed to order a later destroy (OD-02).
    let needed: HashSet<ConfigResource> = state
        .iter()
        .flat_map(|view| view.record.current.iter().chain(view.record.deposed.values()))
        .flat_map(|object| object.dependencies.iter())
        .filter(|dependency| dependency.resource.mode == ResourceMode::Data)
        .cloned()
        .collect();
    for address in disposal.iter().filter(|address| !needed.contains(&address.config_resource())) {
        state.remove_instance(address);
    }
}

/// The result of an apply, whether it succeeded or failed.
#[derive(Debug)]
pub struct AppliedRun {
    /// The state after the run.
    pub state: State,
    /// Counts of successful operations.
    pub done: Done,
    /// Errors and warnings of the run.
    pub diagnostics: Diagnostics,
    /// Memory of the run. It is released together with this value, so that a program that exits at once can skip that.
    #[expect(dead_code, reason = "kept only to be released")]
    pub(crate) spent: Option<Box<dyn std::any::Any + Send>>,
}

impl Done {
    /// Counts a successful operation.
    pub(super) fn count(&mut self, operation: Operation) {
        match operation {
            Operation::Create => self.added += 1,
            Operation::Update => self.changed += 1,
            Operation::Delete => self.destroyed += 1,
            Operation::Read => {}
        }
    }

    /// Returns the sum of two counts.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            imported: self.imported + other.imported,
            added: self.added + other.added,
            changed: self.changed + other.changed,
            destroyed: self.destroyed + other.destroyed,
            invoked: self.invoked + other.invoked,
        }
    }
}

/// Counts of successful operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Number of imported objects.
    pub imported: usize,
    /// Number of created objects.
    pub added: usize,
    /// Objects changed in place.
    pub changed: usize,
    /// Number of destroyed objects.
    pub destroyed: usize,
    /// Number of invoked actions.
    pub invoked: usize,
}
