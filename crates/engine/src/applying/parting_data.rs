//! Data sources that go from the state when what is there is destroyed. Until then they stay: providers are configured with them.

use std::collections::HashSet;

use groma_address::{ConfigResource, Mode as ResourceMode, ResourceInstance};
use groma_state::State;

/// Removes data sources that the plan drops from the state, except those that remaining objects depend on.
pub(super) fn take_out(parting: &[ResourceInstance], state: &mut State) {
    if parting.is_empty() {
        return;
    }
    let needed: HashSet<ConfigResource> = state
        .iter()
        .flat_map(|view| view.record.current.iter().chain(view.record.deposed.values()))
        .flat_map(|object| object.dependencies.iter())
        .filter(|dependency| dependency.resource.mode == ResourceMode::Data)
        .cloned()
        .collect();
    for address in parting.iter().filter(|address| !needed.contains(&address.config_resource())) {
        state.remove_instance(address);
    }
}
