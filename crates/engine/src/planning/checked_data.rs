//! Data sources inside check blocks (PL-27): what is wrong with them is a result of their check, and never stops a run. Apply
//! reads them again when everything else is done, since that is what the check is about.

use groma_address::Name;
use groma_plan::{ActionReason, Mode};
use groma_provider::planned_unknown;

use super::event::Instance;
use super::planner::Planner;
use crate::evaluation::outcome_of;
use crate::reading::DataRead;
use crate::walk::Outcome;

impl Planner<'_> {
    /// The check block that holds a resource, if one does.
    pub(super) fn check_around(&self, instance: Instance) -> Option<Name> {
        let config = &self.world.static_module(instance.module).config;
        config.resources.get_index(instance.resource as usize)?.1.check.clone()
    }

    pub(super) fn checked_data_read(&mut self, instance: Instance, check: &Name, read: DataRead) {
        let Some(template) = self.template_of(instance) else {
            return self.end_instance(instance, Outcome::Failed);
        };
        let DataRead { address, config, value, diagnostics, .. } = read;
        let value = value.filter(|_| !diagnostics.has_errors());
        self.evaluation.checked_data(&self.world, instance.module, check, diagnostics);
        let (known, outcome) = match value {
            Some(value) => {
                self.inputs.session().hooks.read_complete(&address, &value);
                self.settle(instance, value.clone());
                (value.clone(), outcome_of(self.postconditions(instance, &address, &value)))
            }
            None => {
                let unknown = planned_unknown(&template.schema.block, &config);
                self.settle(instance, unknown.clone());
                (unknown, Outcome::Done)
            }
        };
        self.record_data(instance, &address, &known.unknown_as_null());
        if self.inputs.mode() == Mode::Normal {
            self.plan_read(instance, address, &template, known, ActionReason::ReadBecauseCheckNested);
        }
        self.end_instance(instance, outcome);
    }
}
