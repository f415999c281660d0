//! Data sources inside check blocks (PL-27): what is wrong with them is a result of their check, and never stops a run. Apply
//! reads them again when everything else is done, since that is what the check is about.

use groma_address::Name;
use groma_plan::{ActionReason, Mode};
use groma_provider::planned_unknown;

use super::data;
use super::event::Instance;
use super::instances;
use super::managed;
use super::managers;
use super::planner::Planner;
use crate::evaluation::outcome_of;
use crate::reading::DataRead;
use crate::walk::Outcome;
use crate::world::World;

/// The check block that holds a resource, if one does.
pub(super) fn check_around(world: &World, instance: Instance) -> Option<Name> {
    let config = &world.static_module(instance.module).config;
    config.resources.get_index(instance.resource as usize)?.1.check.clone()
}

pub(super) fn checked_data_read(planner: &mut Planner<'_>, instance: Instance, check: &Name, read: DataRead) {
    let Some(template) = managers::template_of(&planner.inputs, &planner.world, &planner.managers, instance) else {
        return instances::end_instance(planner, instance, Outcome::Failed);
    };
    let DataRead { address, config, value, diagnostics, .. } = read;
    let value = value.filter(|_| !diagnostics.has_errors());
    planner.evaluation.checked_data(&planner.world, instance.module, check, diagnostics);
    let (known, outcome) = match value {
        Some(value) => {
            planner.inputs.session().hooks.read_complete(&address, &value);
            data::settle(&mut planner.world, instance, value.clone());
            (
                value.clone(),
                outcome_of(managed::postconditions(
                    &planner.world,
                    &mut planner.evaluation,
                    instance,
                    &address,
                    &value,
                )),
            )
        }
        None => {
            let unknown = planned_unknown(&template.schema.block, &config);
            data::settle(&mut planner.world, instance, unknown.clone());
            (unknown, Outcome::Done)
        }
    };
    data::record_data(planner, instance, &address, &known.unknown_as_null());
    if planner.inputs.mode() == Mode::Normal {
        data::plan_read(
            &planner.moves,
            &mut planner.plan,
            instance,
            address,
            &template,
            known,
            ActionReason::ReadBecauseCheckNested,
        );
    }
    instances::end_instance(planner, instance, outcome);
}
