//! The end of a run: what it leaves in the state, and what it has to say.

use groma_state::OutputValue;

use super::applier::Applier;
use super::outcome::AppliedRun;
use super::parting_data;
use crate::carried::carried;
use crate::general_problems::reported_once;
use crate::plan::{Action, Mode};
use crate::world::ModuleId;

impl Applier<'_> {
    /// Returns the outcome of the run.
    pub(super) fn finish(mut self) -> AppliedRun {
        self.write_outputs();
        let not_begun = std::mem::take(&mut self.not_begun);
        self.evaluation.diagnostics.append(not_begun.report());
        if self.mode != Mode::Destroy || !self.evaluation.diagnostics.has_errors() {
            let results = self.evaluation.checks.results();
            self.state.check_results = Some(results);
        }
        let spent = Box::new((self.world, self.changes, self.execution));
        let (made, done) = self.clerk.finish();
        self.state.absorb(made);
        parting_data::take_out(&self.parting, &mut self.state);
        AppliedRun {
            state: self.state,
            done: self.done.and(done),
            diagnostics: reported_once(self.evaluation.diagnostics),
            spent: Some(spent),
        }
    }

    /// Outputs that were worked out are recorded; others stay as they were.
    fn write_outputs(&mut self) {
        let root = self.world.module(ModuleId::ROOT);
        let config = &self.prepared.graph.module(root.of).config;
        for change in &self.outputs {
            if change.action == Action::Delete {
                self.state.outputs.remove(&change.name);
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
                    self.state.outputs.remove(&change.name);
                    continue;
                }
                // A root module has deprecated outputs where OpenTofu reads it, which notes that for who reads the state.
                let (sensitive, deprecated) = (declared.sensitive, declared.deprecated.clone());
                let output = OutputValue { ty: value.ty(), value, sensitive, deprecated };
                self.state.outputs.insert(change.name.clone(), output);
            }
        }
    }
}
