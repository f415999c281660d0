//! Index from resources to their module instances in the state.

use std::collections::HashMap;

use groma_address::{AbsResource, ConfigResource};
use groma_state::State;

/// By resource: in which instances of its module.
pub(super) struct Places(HashMap<ConfigResource, Vec<AbsResource>>);

impl Places {
    /// Builds the index for a state.
    pub(super) fn of(state: &State) -> Self {
        let mut places: HashMap<ConfigResource, Vec<AbsResource>> = HashMap::new();
        for (place, _) in state.resources() {
            places.entry(place.config_resource()).or_default().push(place.clone());
        }
        Self(places)
    }

    /// Returns the addresses at which a resource has objects.
    pub(super) fn of_resource(&self, resource: &ConfigResource) -> &[AbsResource] {
        self.0.get(resource).map(Vec::as_slice).unwrap_or_default()
    }
}
