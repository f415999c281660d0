//! Data sources while everything is destroyed: providers may be configured with them, and outputs told from them for the last
//! time. One that cannot be read is what the last run found: what is broken must not keep alive what there is.

use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_diagnostics::{Diagnostics, Severity};

use super::event::Instance;
use super::planner::Planner;
use crate::options::{Deferral, Refresh};
use crate::reading::DataRead;
use crate::record;
use crate::templates::Template;
use crate::walk::Outcome;
use crate::world::InstanceScope;

impl Planner<'_> {
    /// Reads a data source, if what it is read with is known.
    pub(super) async fn start_remaining_data(
        &mut self,
        instance: Instance,
        address: ResourceInstance,
        template: Arc<Template>,
    ) {
        if self.options.refresh == Refresh::Trust {
            return self.settle_recorded(instance, &address);
        }
        let repetition = self.repetition(instance);
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, instance.module, &functions).repeated(&repetition);
        let (config, problems) = template.body.evaluate(&scope);
        let provider = self.providers.configured(&template.provider).cloned();
        let (Some(provider), true) = (provider, config.is_wholly_known() && !problems.has_errors()) else {
            return self.settle_recorded(instance, &address);
        };
        self.read_now(instance, address, (provider, &template), config, Deferral::Refused).await;
    }

    pub(super) fn remaining_data_read(&mut self, instance: Instance, read: DataRead) {
        let DataRead { address, value, mut diagnostics, .. } = read;
        if let Some(value) = value.filter(|_| !diagnostics.has_errors()) {
            self.session.hooks.read_complete(&address, &value);
            self.evaluation.diagnostics.append(diagnostics);
            self.settle(instance, value);
            self.state.remove(&address, None);
            return self.end_instance(instance, Outcome::Done);
        }
        lessen(&mut diagnostics);
        self.evaluation.diagnostics.append(diagnostics);
        self.settle_recorded(instance, &address);
    }

    /// The data resource is what the last run found.
    fn settle_recorded(&mut self, instance: Instance, address: &ResourceInstance) {
        let template = self.template(instance.module, instance.resource);
        if let (Some(record), Some(template)) = (self.state.object(address, None).cloned(), template) {
            if let Some(value) = record::decode(&template.schema, &record) {
                self.settle(instance, value);
            }
            self.state.remove(address, None);
        }
        self.end_instance(instance, Outcome::Done);
    }
}

/// Nothing of it stops the run.
fn lessen(diagnostics: &mut Diagnostics) {
    for problem in diagnostics.iter_mut() {
        problem.severity = Severity::Warning;
    }
}
