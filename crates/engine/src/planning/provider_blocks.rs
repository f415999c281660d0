//! Configuring the providers of blocks, one for each instance that the block has.

use super::event::Event;
use super::planner::Planner;
use crate::config_graph::ModuleIndex;
use crate::options::Deferral;
use crate::plan::DeferralReason;
use crate::provider_blocks::BlockInstance;
use crate::provider_setup::{Configuring, hold_all};
use crate::recovery::Recovered;
use crate::templates::ProviderTemplate;
use crate::walk::{Outcome, Visit};
use crate::world::ModuleId;

impl Planner<'_> {
    pub(super) async fn configure_block(&mut self, visit: Visit, at: u32) {
        let index: ModuleIndex = self.world.module(visit.module).of;
        let Some(block) = self.templates.provider(index, at).cloned() else { return self.end(visit, Outcome::Failed) };
        if !self.used.contains(&block.config) {
            return self.end(visit, Outcome::Done);
        }
        if block.withheld.has_errors() {
            self.evaluation.diagnostics.append(block.withheld.clone());
            return self.end(visit, Outcome::Failed);
        }
        if self.walk.is_deferred(visit) {
            self.waiting.note(&block.config, DeferralReason::DeferredPrerequisite);
        }
        let Some(configuring) = self.configuring(visit.module, &block) else {
            return self.end(visit, Outcome::Failed);
        };
        let (at_once, version) = (self.session.parallelism, self.session.terraform_version.clone());
        self.talk(async move { Event::Providers(visit, hold_all(configuring, at_once, version).await) }).await;
    }

    /// None after an error, which is noted.
    fn configuring(&mut self, module: ModuleId, block: &ProviderTemplate) -> Option<Vec<Configuring>> {
        let instances = BlockInstance::all(block, module, &self.world, &mut self.evaluation, self.providers)?;
        let configuring: Vec<_> = instances.into_iter().map(|instance| self.configuring_one(instance)).collect();
        // Errors of several instances are reported together.
        configuring.into_iter().collect()
    }

    fn configuring_one(&mut self, instance: BlockInstance<'_>) -> Option<Configuring> {
        let value = instance.value(&self.world, &mut self.evaluation)?;
        let configuring = instance.configuring(value, &mut self.evaluation, self.providers)?;
        Some(configuring.deferring(self.options.deferral).recovering(self.options.recovery.as_deref()))
    }

    /// Adds the results of calls that an interrupted run had begun to the state, before anything is planned.
    pub(super) fn recover(&mut self, recovered: Vec<Recovered>) {
        let Some(recovery) = self.options.recovery.clone() else { return };
        for call in recovered {
            let problems = recovery.take_in(&mut self.state, call);
            self.evaluation.diagnostics.append(problems);
        }
    }

    pub(super) fn providers_configured(&mut self, visit: Visit, configured: Vec<Configuring>) {
        let mut worst = Outcome::Done;
        for one in configured {
            match self.provider_configured(one) {
                Outcome::Failed => worst = Outcome::Failed,
                Outcome::Deferred if worst == Outcome::Done => worst = Outcome::Deferred,
                Outcome::Deferred | Outcome::Done => {}
            }
        }
        self.end(visit, worst);
    }

    fn provider_configured(&mut self, configuring: Configuring) -> Outcome {
        let failed = configuring.diagnostics.has_errors();
        if failed && self.options.deferral == Deferral::Allowed && !configuring.value.is_wholly_known() {
            // The provider cannot be configured with the values that are known now.
            self.waiting.unready(&configuring.config);
            return Outcome::Deferred;
        }
        self.evaluation.diagnostics.append(configuring.diagnostics);
        self.recover(configuring.recovered);
        if failed {
            return Outcome::Failed;
        }
        self.providers.took(configuring.config, configuring.provider, configuring.value);
        Outcome::Done
    }
}
