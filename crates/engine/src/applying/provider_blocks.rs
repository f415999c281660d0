//! Steps that configure the providers of blocks, one for each instance that the block has and something is done with.

use std::sync::Arc;

use groma_address::ProviderConfig;
use groma_hcl::Expression;

use super::applier::Applier;
use super::event::Event;
use crate::provider_setup::{Configuring, hold_all};
use crate::repetition::{Arguments, expand};
use crate::templates::ProviderTemplate;
use crate::walk::Outcome;
use crate::world::{Expansion, InstanceScope, ModuleId, Repetition};

impl Applier<'_> {
    pub(super) async fn configure(&mut self, step: u32, module: ModuleId, at: u32) {
        let index = self.world.module(module).of;
        let Some(block) = self.prepared.templates.provider(index, at).cloned() else {
            return self.end(step, Outcome::Done);
        };
        let wanted = match &block.for_each {
            None => self.configuring(module, &block, &block.config, &Repetition::None),
            Some(for_each) => self.configuring_each(module, &block, for_each),
        };
        match wanted {
            None => self.end(step, Outcome::Failed),
            Some(wanted) if wanted.is_empty() => self.end(step, Outcome::Done),
            Some(wanted) => {
                let (at_once, version) = (self.session.parallelism, self.session.terraform_version.clone());
                self.talk(step, async move { Event::Providers(hold_all(wanted, at_once, version).await) }).await;
            }
        }
    }

    /// Those of a block with `for_each`; none after an error, which is noted.
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
        let mut wanted = Vec::new();
        for (position, config) in instances.iter().enumerate() {
            wanted.extend(self.configuring(module, block, config, &expansion.repetition(position))?);
        }
        Some(wanted)
    }

    /// Nothing to do where nothing is done with it, or where it has its configuration already; none after an error.
    fn configuring(
        &mut self,
        module: ModuleId,
        block: &ProviderTemplate,
        config: &ProviderConfig,
        repetition: &Repetition,
    ) -> Option<Vec<Configuring>> {
        if !self.acting.contains(config) && !self.opening.contains(&block.config) {
            return Some(Vec::new());
        }
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, module, &functions).repeated(repetition);
        let value = self.evaluation.provider(&block.body, &scope)?;
        if self.providers.is_configured_as(config, &value) {
            return Some(Vec::new());
        }
        match self.providers.for_configuration(config) {
            Ok(provider) => Some(vec![Configuring::new(config.clone(), provider, Arc::clone(&block.body), value)]),
            Err(problem) => {
                self.evaluation.diagnostics.push(problem);
                None
            }
        }
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
