//! Where the state has objects of each resource.

use std::collections::HashMap;

use groma_address::{AbsResource, ConfigResource};
use groma_state::State;

/// By resource: in which instances of its module.
pub(super) struct Places(HashMap<ConfigResource, Vec<AbsResource>>);

impl Places {
    /// Those of a state.
    pub(super) fn of(state: &State) -> Self {
        let mut places: HashMap<ConfigResource, Vec<AbsResource>> = HashMap::new();
        for (place, _) in state.resources() {
            places.entry(place.config_resource()).or_default().push(place.clone());
        }
        Self(places)
    }

    /// Those of a resource.
    pub(super) fn of_resource(&self, resource: &ConfigResource) -> &[AbsResource] {
        self.0.get(resource).map(Vec::as_slice).unwrap_or_default()
    }
}
