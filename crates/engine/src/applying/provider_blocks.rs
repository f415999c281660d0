//! Steps that configure the providers of blocks, one for each instance that the block has and something is done with.

use super::applier::Applier;
use super::event::Event;
use crate::provider_blocks::BlockInstance;
use crate::provider_setup::{Configuring, hold_all};
use crate::templates::ProviderTemplate;
use crate::walk::Outcome;
use crate::world::ModuleId;

impl Applier<'_> {
    pub(super) async fn configure(&mut self, step: u32, module: ModuleId, at: u32) {
        let index = self.world.module(module).of;
        let Some(block) = self.prepared.templates.provider(index, at).cloned() else {
            return self.end(step, Outcome::Done);
        };
        match self.configuring(module, &block) {
            None => self.end(step, Outcome::Failed),
            Some(configuring) if configuring.is_empty() => self.end(step, Outcome::Done),
            Some(configuring) => {
                let (at_once, version) = (self.session.parallelism, self.session.terraform_version.clone());
                self.talk(step, async move { Event::Providers(hold_all(configuring, at_once, version).await) }).await;
            }
        }
    }

    /// Returns the configurations of a block that are in use and not configured yet; `None` after an error, which is recorded.
    fn configuring(&mut self, module: ModuleId, block: &ProviderTemplate) -> Option<Vec<Configuring>> {
        let mut instances = BlockInstance::all(block, module, &self.world, &mut self.evaluation, self.providers)?;
        // Which instance an ephemeral resource or a function needs is found only when it is opened or called.
        let functions = || self.world.graph().function_providers().contains(&block.config);
        if !self.opening.contains(&block.config) && !functions() {
            instances.retain(|instance| self.acting.contains(&instance.config));
        }
        let mut configuring = Vec::with_capacity(instances.len());
        for instance in instances {
            let value = instance.value(&self.world, &mut self.evaluation)?;
            if !self.providers.is_configured_as(&instance.config, &value) {
                configuring.push(instance.configuring(value, &mut self.evaluation, self.providers)?);
            }
        }
        Some(configuring)
    }

    pub(super) fn configured(&mut self, configured: Vec<Configuring>) -> Outcome {
        let mut outcome = Outcome::Done;
        for Configuring { config, provider, value, diagnostics, .. } in configured {
            match self.report(diagnostics) {
                Outcome::Done => self.providers.took(config, provider, value),
                failed => outcome = failed,
            }
        }
        outcome
    }
}
