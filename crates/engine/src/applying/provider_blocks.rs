//! Steps that configure the providers of blocks, one for each instance that the block has and something is done with.

use super::applier::Applier;
use super::event::Event;
use crate::provider_blocks::BlockInstance;
use crate::provider_setup::{Configuring, configure_all};
use crate::templates::ProviderTemplate;
use crate::walk::Outcome;
use crate::world::ModuleId;

pub(super) async fn configure(applier: &mut Applier<'_>, step: u32, module: ModuleId, at: u32) {
    let index = applier.world.module(module).of;
    let Some(block) = applier.inputs.templates().provider(index, at).cloned() else {
        return applier.end(step, Outcome::Done);
    };
    match configuring(applier, module, &block) {
        None => applier.end(step, Outcome::Failed),
        Some(configuring) if configuring.is_empty() => applier.end(step, Outcome::Done),
        Some(configuring) => {
            let (at_once, version) =
                (applier.inputs.session().parallelism, applier.inputs.session().terraform_version.clone());
            applier
                .start_call(step, async move { Event::Providers(configure_all(configuring, at_once, version).await) })
                .await;
        }
    }
}

/// Returns the configurations of a block that are in use and not configured yet; `None` after an error, which is recorded.
fn configuring(applier: &mut Applier<'_>, module: ModuleId, block: &ProviderTemplate) -> Option<Vec<Configuring>> {
    let mut instances = BlockInstance::all(block, module, &applier.world, &mut applier.evaluation, applier.providers)?;
    // Which instance an ephemeral resource or a function needs is found only when it is opened or called.
    let functions = || applier.world.graph().function_providers().contains(&block.config);
    if !applier.inputs.opens_through(&block.config) && !functions() {
        instances.retain(|instance| applier.inputs.acting_providers().contains(&instance.config));
    }
    let mut configuring = Vec::with_capacity(instances.len());
    for instance in instances {
        let value = instance.value(&applier.world, &mut applier.evaluation)?;
        if !applier.providers.is_configured_as(&instance.config, &value) {
            configuring.push(instance.configuring(value, &mut applier.evaluation, applier.providers)?);
        }
    }
    Some(configuring)
}

pub(super) fn configured(applier: &mut Applier<'_>, configured: Vec<Configuring>) -> Outcome {
    let mut outcome = Outcome::Done;
    for Configuring { config, provider, value, diagnostics, .. } in configured {
        match applier.report(diagnostics) {
            Outcome::Done => applier.providers.took(config, provider, value),
            failed => outcome = failed,
        }
    }
    outcome
}
