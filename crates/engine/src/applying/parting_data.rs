//! Data sources that go from the state when what is there is destroyed. Until then they stay: providers are configured with them.

use std::collections::HashSet;

use groma_address::{ConfigResource, Mode as ResourceMode, ResourceInstance};
use groma_state::State;

use crate::plan::{Mode, Plan};

/// The data sources that a plan parts with; none unless it destroys.
pub(super) struct PartingData(Vec<ResourceInstance>);

impl PartingData {
    /// All, but for those that the plan does not aim at.
    pub(super) fn of(plan: &Plan) -> Self {
        if plan.mode != Mode::Destroy {
            return Self(Vec::new());
        }
        let is_aimed_at = |address: &ResourceInstance| {
            let is_named = plan.targets.is_empty() || plan.targets.iter().any(|target| target.contains(address));
            is_named && !plan.excludes.iter().any(|exclude| exclude.may_mean(address))
        };
        let data = plan.prior_state.iter().filter(|view| view.resource.resource.mode == ResourceMode::Data);
        Self(data.map(|view| view.address()).filter(is_aimed_at).collect())
    }

    /// Takes them out, but for those that objects stand on which are still there.
    pub(super) fn take_out_of(self, state: &mut State) {
        if self.0.is_empty() {
            return;
        }
        let needed: HashSet<ConfigResource> = state
            .iter()
            .flat_map(|view| view.record.current.iter().chain(view.record.deposed.values()))
            .flat_map(|object| object.dependencies.iter())
            .filter(|dependency| dependency.resource.mode == ResourceMode::Data)
            .cloned()
            .collect();
        for address in self.0.iter().filter(|address| !needed.contains(&address.config_resource())) {
            state.remove_instance(address);
        }
    }
}
