//! Data sources while everything is destroyed: providers may be configured with them, and outputs told from them for the last
//! time. A data source that cannot be read keeps its last result: errors must not prevent destruction.

use std::sync::Arc;

use groma_address::{Mode as ResourceMode, ResourceInstance};
use groma_config::Resource;
use groma_diagnostics::{Diagnostics, Severity};

use super::event::Instance;
use super::planner::Planner;
use crate::options::{Deferral, Refresh};
use crate::plan::Mode;
use crate::reading::DataRead;
use crate::record;
use crate::repetition::{Arguments, expand_or_defer};
use crate::templates::Template;
use crate::walk::{Outcome, Visit};
use crate::world::{Expansion, InstanceScope};

impl Planner<'_> {
    /// Reads a data source, if what it is read with is known.
    pub(super) async fn start_remaining_data(
        &mut self,
        instance: Instance,
        address: ResourceInstance,
        template: Arc<Template>,
    ) {
        if self.options.refresh == Refresh::Trust || self.goes_unread(instance, &address) {
            return self.settle_recorded(instance, &address);
        }
        let repetition = self.repetition(instance);
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, instance.module, &functions).repeated(&repetition);
        let (config, problems) = template.body.evaluate(&scope);
        let provider = self.providers.configured(&template.provider);
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
            self.record_data(instance, &address, &value);
            self.settle(instance, value);
            return self.end_instance(instance, Outcome::Done);
        }
        // Whether checks hold is not asked while everything goes.
        if self.check_around(instance).is_none() {
            lessen(&mut diagnostics);
            self.evaluation.diagnostics.append(diagnostics);
        }
        self.settle_recorded(instance, &address);
    }

    /// Data sources that go with what is destroyed.
    pub(super) fn parting_data(&self) -> Vec<ResourceInstance> {
        if self.options.mode != Mode::Destroy {
            return Vec::new();
        }
        let data = self.state.iter().filter(|view| view.resource.resource.mode == ResourceMode::Data);
        let is_aimed_at = |address: &ResourceInstance| self.included.as_ref().is_none_or(|some| some.chosen(address));
        data.map(|view| view.address()).filter(is_aimed_at).collect()
    }

    /// The instances of a data source that something is configured with, as the configuration has them; none where it is another
    /// resource, or its repetition cannot be worked out: then it is what the last run found.
    pub(super) fn expansion_of_needed_data(&self, visit: Visit, resource: &Resource) -> Option<Expansion> {
        let index = self.world.module(visit.module).of;
        let is_needed = self.remains.as_ref().is_some_and(|remains| remains.needs(index, visit.node));
        if resource.address.mode != ResourceMode::Data || !is_needed {
            return None;
        }
        let scope = InstanceScope::new(&self.world, visit.module, &self.evaluation.functions);
        let mut problems = Diagnostics::new();
        let wanted = expand_or_defer(Arguments::of_resource(resource), Deferral::Refused, &scope, &mut problems);
        wanted.filter(|_| !problems.has_errors())
    }

    /// Whether it is there only because it depends on something that is destroyed.
    fn goes_unread(&self, instance: Instance, address: &ResourceInstance) -> bool {
        let module = self.world.module(instance.module).of;
        let node = self.world.static_module(instance.module).resource(instance.resource as usize);
        let is_needed = self.remains.as_ref().is_some_and(|remains| remains.needs(module, node));
        !is_needed && self.included.as_ref().is_some_and(|included| !included.reads(module, node, address))
    }

    /// The data resource is what the last run found.
    fn settle_recorded(&mut self, instance: Instance, address: &ResourceInstance) {
        let template = self.template(instance.module, instance.resource);
        if let (Some(record), Some(template)) = (self.state.object(address, None), template)
            && let Some(value) = record::decode(&template.schema, record)
        {
            self.settle(instance, value);
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
