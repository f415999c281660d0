//! The end of a run: what it leaves in the state, and what it has to say.

use groma_plan::{Action, Mode, carried};
use groma_state::{OutputValue, State};

use super::applier::Applier;
use super::inputs::Inputs;
use super::outcome::AppliedRun;
use super::parting_data;
use crate::general_problems::reported_once;
use crate::world::{ModuleId, World};

/// Returns the outcome of the run.
pub(super) fn finish(mut applier: Applier<'_>) -> AppliedRun {
    applier.evaluation.diagnostics.append(applier.recording.report_not_begun());
    let (mut state, done) = applier.recording.finish();
    write_outputs(&applier.inputs, &applier.world, &mut state);
    if applier.inputs.mode() != Mode::Destroy || !applier.evaluation.diagnostics.has_errors() {
        state.check_results = Some(applier.evaluation.checks.results());
    }
    parting_data::take_out(applier.inputs.removed_data(), &mut state);
    let spent = Box::new((applier.world, applier.inputs.into_spent(), applier.steps.into_spent()));
    AppliedRun { state, done, diagnostics: reported_once(applier.evaluation.diagnostics), spent: Some(spent) }
}

/// Outputs that were worked out are recorded; others stay as they were.
fn write_outputs(inputs: &Inputs<'_>, world: &World, state: &mut State) {
    let root = world.module(ModuleId::ROOT);
    let config = &inputs.graph().module(root.of).config;
    for change in inputs.outputs() {
        if change.action == Action::Delete {
            state.outputs.remove(&change.name);
            continue;
        }
        let worked_out = config.outputs.get_full(&change.name).and_then(|(at, _, output)| {
            let value = root.outputs.get(at).cloned().flatten()?;
            (value.is_wholly_known() && !output.ephemeral).then_some((value, output))
        });
        if let Some((value, declared)) = worked_out {
            let (value, _) = value.unmark_deep();
            let value = if change.after.is_wholly_known() { carried(value) } else { value };
            if value.is_null() {
                state.outputs.remove(&change.name);
                continue;
            }
            // A root module has deprecated outputs where OpenTofu reads it, which notes that for who reads the state.
            let (sensitive, deprecated) = (declared.sensitive, declared.deprecated.clone());
            let output = OutputValue { ty: value.ty(), value, sensitive, deprecated };
            state.outputs.insert(change.name.clone(), output);
        }
    }
}
