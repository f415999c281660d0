//! Configuring the providers of blocks, one for each instance that the block has.

use groma_plan::DeferralReason;
use groma_state::State;

use super::event::Event;
use super::inputs::Inputs;
use super::planner::Planner;
use crate::config_graph::ModuleIndex;
use crate::evaluation::Evaluation;
use crate::options::Deferral;
use crate::provider_blocks::BlockInstance;
use crate::provider_setup::{Configuring, hold_all};
use crate::recovery::Recovered;
use crate::templates::ProviderTemplate;
use crate::walk::{Outcome, Visit};
use crate::world::ModuleId;

pub(super) async fn configure_block(planner: &mut Planner<'_>, visit: Visit, at: u32) {
    let index: ModuleIndex = planner.world.module(visit.module).of;
    let Some(block) = planner.inputs.templates().provider(index, at).cloned() else {
        return planner.end(visit, Outcome::Failed);
    };
    if !planner.inputs.uses_provider(&block.config) {
        return planner.end(visit, Outcome::Done);
    }
    if block.withheld.has_errors() {
        planner.evaluation.diagnostics.append(block.withheld.clone());
        return planner.end(visit, Outcome::Failed);
    }
    if planner.schedule.is_deferred(visit) {
        planner.managers.defer_provider(&block.config, DeferralReason::DeferredPrerequisite);
    }
    let Some(configuring) = configuring(planner, visit.module, &block) else {
        return planner.end(visit, Outcome::Failed);
    };
    let (at_once, version) = (planner.inputs.session().parallelism, planner.inputs.session().terraform_version.clone());
    planner.talk(async move { Event::Providers(visit, hold_all(configuring, at_once, version).await) }).await;
}

/// None after an error, which is noted.
fn configuring(planner: &mut Planner<'_>, module: ModuleId, block: &ProviderTemplate) -> Option<Vec<Configuring>> {
    let instances = BlockInstance::all(block, module, &planner.world, &mut planner.evaluation, planner.providers)?;
    let configuring: Vec<_> = instances.into_iter().map(|instance| configuring_one(planner, instance)).collect();
    // What is wrong with several of them is told at once.
    configuring.into_iter().collect()
}

fn configuring_one(planner: &mut Planner<'_>, instance: BlockInstance<'_>) -> Option<Configuring> {
    let value = instance.value(&planner.world, &mut planner.evaluation)?;
    let configuring = instance.configuring(value, &mut planner.evaluation, planner.providers)?;
    Some(configuring.deferring(planner.inputs.deferral()).recovering(planner.inputs.options().recovery.as_deref()))
}

/// What an interrupted run had begun becomes part of the state before anything is planned on it.
pub(super) fn recover(inputs: &Inputs<'_>, state: &mut State, evaluation: &mut Evaluation, recovered: Vec<Recovered>) {
    let Some(recovery) = inputs.options().recovery.clone() else { return };
    for call in recovered {
        let problems = recovery.take_in(state, call);
        evaluation.diagnostics.append(problems);
    }
}

pub(super) fn providers_configured(planner: &mut Planner<'_>, visit: Visit, configured: Vec<Configuring>) {
    let mut worst = Outcome::Done;
    for one in configured {
        match provider_configured(planner, one) {
            Outcome::Failed => worst = Outcome::Failed,
            Outcome::Deferred if worst == Outcome::Done => worst = Outcome::Deferred,
            Outcome::Deferred | Outcome::Done => {}
        }
    }
    planner.end(visit, worst);
}

fn provider_configured(planner: &mut Planner<'_>, configuring: Configuring) -> Outcome {
    let failed = configuring.diagnostics.has_errors();
    if failed && planner.inputs.deferral() == Deferral::Allowed && !configuring.value.is_wholly_known() {
        // It cannot work with what is known of its configuration now.
        planner.managers.mark_unready(&configuring.config);
        return Outcome::Deferred;
    }
    planner.evaluation.diagnostics.append(configuring.diagnostics);
    recover(&planner.inputs, &mut planner.state, &mut planner.evaluation, configuring.recovered);
    if failed {
        return Outcome::Failed;
    }
    planner.providers.took(configuring.config, configuring.provider, configuring.value);
    Outcome::Done
}
