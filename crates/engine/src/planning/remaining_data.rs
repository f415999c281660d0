//! Data sources while everything is destroyed: providers may be configured with them, and outputs told from them for the last
//! time. One that cannot be read is what the last run found: what is broken must not keep alive what there is.

use std::sync::Arc;

use groma_address::{Mode as ResourceMode, ResourceInstance};
use groma_config::Resource;
use groma_diagnostics::{Diagnostics, Severity};
use groma_plan::Mode;
use groma_state::State;

use super::checked_data;
use super::data;
use super::event::Instance;
use super::inputs::Inputs;
use super::instances;
use super::managed;
use super::planner::Planner;
use crate::evaluation::Evaluation;
use crate::options::{Deferral, Refresh};
use crate::reading::DataRead;
use crate::record;
use crate::repetition::{Arguments, expand_or_defer};
use crate::templates::Template;
use crate::walk::{Outcome, Visit};
use crate::world::{Expansion, InstanceScope, World};

/// Reads a data source, if what it is read with is known.
pub(super) async fn start_remaining_data(
    planner: &mut Planner<'_>,
    instance: Instance,
    address: ResourceInstance,
    template: Arc<Template>,
) {
    if planner.inputs.options().refresh == Refresh::Trust
        || goes_unread(&planner.inputs, &planner.world, instance, &address)
    {
        return settle_recorded(planner, instance, &address);
    }
    let repetition = managed::repetition(&planner.world, instance);
    let functions = Arc::clone(&planner.evaluation.functions);
    let scope = InstanceScope::new(&planner.world, instance.module, &functions).repeated(&repetition);
    let (config, problems) = template.body.evaluate(&scope);
    let provider = planner.providers.configured(&template.provider);
    let (Some(provider), true) = (provider, config.is_wholly_known() && !problems.has_errors()) else {
        return settle_recorded(planner, instance, &address);
    };
    data::read_now(planner, instance, address, (provider, &template), config, Deferral::Refused).await;
}

pub(super) fn remaining_data_read(planner: &mut Planner<'_>, instance: Instance, read: DataRead) {
    let DataRead { address, value, mut diagnostics, .. } = read;
    if let Some(value) = value.filter(|_| !diagnostics.has_errors()) {
        planner.inputs.session().hooks.read_complete(&address, &value);
        planner.evaluation.diagnostics.append(diagnostics);
        data::record_data(planner, instance, &address, &value);
        data::settle(&mut planner.world, instance, value);
        return instances::end_instance(planner, instance, Outcome::Done);
    }
    // Whether checks hold is not asked while everything goes.
    if checked_data::check_around(&planner.world, instance).is_none() {
        lessen(&mut diagnostics);
        planner.evaluation.diagnostics.append(diagnostics);
    }
    settle_recorded(planner, instance, &address);
}

/// Data sources that go with what is destroyed.
pub(super) fn parting_data(inputs: &Inputs<'_>, state: &State) -> Vec<ResourceInstance> {
    if inputs.mode() != Mode::Destroy {
        return Vec::new();
    }
    let data = state.iter().filter(|view| view.resource.resource.mode == ResourceMode::Data);
    let is_aimed_at = |address: &ResourceInstance| inputs.targets().is_none_or(|some| some.chosen(address));
    data.map(|view| view.address()).filter(is_aimed_at).collect()
}

/// The instances of a data source that something is configured with, as the configuration has them; none where it is another
/// resource, or its repetition cannot be worked out: then it is what the last run found.
pub(super) fn expansion_of_needed_data(
    inputs: &Inputs<'_>,
    world: &World,
    evaluation: &Evaluation,
    visit: Visit,
    resource: &Resource,
) -> Option<Expansion> {
    let index = world.module(visit.module).of;
    let is_needed = inputs.destroy_needs().is_some_and(|remains| remains.needs(index, visit.node));
    if resource.address.mode != ResourceMode::Data || !is_needed {
        return None;
    }
    let scope = InstanceScope::new(world, visit.module, &evaluation.functions);
    let mut problems = Diagnostics::new();
    let wanted = expand_or_defer(Arguments::of_resource(resource), Deferral::Refused, &scope, &mut problems);
    wanted.filter(|_| !problems.has_errors())
}

/// Whether it is there only because it depends on something that is destroyed.
fn goes_unread(inputs: &Inputs<'_>, world: &World, instance: Instance, address: &ResourceInstance) -> bool {
    let module = world.module(instance.module).of;
    let node = world.static_module(instance.module).resource(instance.resource as usize);
    let is_needed = inputs.destroy_needs().is_some_and(|remains| remains.needs(module, node));
    !is_needed && inputs.targets().is_some_and(|included| !included.reads(module, node, address))
}

/// The data resource is what the last run found.
fn settle_recorded(planner: &mut Planner<'_>, instance: Instance, address: &ResourceInstance) {
    let template = planner.inputs.template(&planner.world, instance.module, instance.resource);
    if let (Some(record), Some(template)) = (planner.state.object(address, None), template)
        && let Some(value) = record::decode(&template.schema, record)
    {
        data::settle(&mut planner.world, instance, value);
    }
    instances::end_instance(planner, instance, Outcome::Done);
}

/// Nothing of it stops the run.
fn lessen(diagnostics: &mut Diagnostics) {
    for problem in diagnostics.iter_mut() {
        problem.severity = Severity::Warning;
    }
}
