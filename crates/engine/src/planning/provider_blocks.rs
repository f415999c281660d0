//! Configuring the providers of blocks, one for each instance that the block has.

use std::sync::Arc;

use groma_address::ProviderConfig;
use groma_hcl::Expression;

use super::event::Event;
use super::planner::Planner;
use crate::config_graph::ModuleIndex;
use crate::options::Deferral;
use crate::plan::DeferralReason;
use crate::provider_setup::{Configuring, hold_all};
use crate::recovery::Recovered;
use crate::repetition::{Arguments, expand};
use crate::templates::ProviderTemplate;
use crate::walk::{Outcome, Visit};
use crate::world::{Expansion, InstanceScope, ModuleId, Repetition};

impl Planner<'_> {
    pub(super) async fn configure_block(&mut self, visit: Visit, at: u32) {
        let index: ModuleIndex = self.world.module(visit.module).of;
        let Some(block) = self.templates.provider(index, at).cloned() else { return self.end(visit, Outcome::Failed) };
        if !self.used.contains(&block.config) {
            return self.end(visit, Outcome::Done);
        }
        if self.walk.is_deferred(visit) {
            self.waiting.note(&block.config, DeferralReason::DeferredPrerequisite);
        }
        let configuring = match &block.for_each {
            None => self.configuring(visit.module, &block, &block.config, &Repetition::None).map(|one| vec![one]),
            Some(for_each) => self.configuring_each(visit.module, &block, for_each),
        };
        let Some(configuring) = configuring else { return self.end(visit, Outcome::Failed) };
        let (at_once, version) = (self.session.parallelism, self.session.terraform_version.clone());
        self.talk(async move { Event::Providers(visit, hold_all(configuring, at_once, version).await) }).await;
    }

    /// One for each element; none after an error, which is noted.
    fn configuring_each(
        &mut self,
        module: ModuleId,
        block: &ProviderTemplate,
        for_each: &Expression,
    ) -> Option<Vec<Configuring>> {
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions);
        let arguments = Arguments { for_each: Some(for_each), ..Arguments::default() };
        let expansion = expand(arguments, &scope, &mut self.evaluation.diagnostics)?;
        let Expansion::ForEach(elements) = &expansion else { return None };
        let instances = self.providers.expand(&block.config, elements.iter().map(|(key, _)| key.clone()));
        let each = instances.iter().enumerate();
        let configuring =
            each.map(|(position, config)| self.configuring(module, block, config, &expansion.repetition(position)));
        // What is wrong with several of them is told at once.
        configuring.collect::<Vec<_>>().into_iter().collect()
    }

    /// None after an error, which is noted.
    fn configuring(
        &mut self,
        module: ModuleId,
        block: &ProviderTemplate,
        config: &ProviderConfig,
        repetition: &Repetition,
    ) -> Option<Configuring> {
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(repetition);
        let value = self.evaluation.provider(&block.body, &scope)?;
        match self.providers.for_configuration(config) {
            Ok(provider) => Some(
                Configuring::new(config.clone(), provider, Arc::clone(&block.body), value)
                    .deferring(self.options.deferral)
                    .recovering(self.options.recovery.as_deref()),
            ),
            Err(problem) => {
                self.evaluation.diagnostics.push(problem);
                None
            }
        }
    }

    /// What an interrupted run had begun becomes part of the state before anything is planned on it.
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
            // It cannot work with what is known of its configuration now.
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
