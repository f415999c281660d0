//! Records of writes without an answer, which the stored state may have.

use std::collections::BTreeSet;

use groma_address::{Name, ResourceInstance};

use super::merge::{addresses, has_same_provider, replace_instance, replace_output};
use super::record::{RecordName, is_same_instance};
use crate::model::State;

/// The records of a write whose answer was lost, or that another run has overtaken: the stored state may have them.
pub(super) struct UnansweredRecords {
    /// A state with these records alone.
    state: State,
    instances: Vec<ResourceInstance>,
    outputs: Vec<Name>,
}

impl UnansweredRecords {
    /// Returns the named records of `ours`. Those that only `base` has were removed.
    pub fn of(base: &State, ours: &State, names: &BTreeSet<RecordName>) -> Self {
        let is_named = |address: &ResourceInstance| names.contains(&RecordName::instance(address));
        let instances: Vec<_> = addresses(base, ours).into_iter().filter(is_named).collect();
        let outputs: BTreeSet<_> = base.outputs.keys().chain(ours.outputs.keys()).cloned().collect();
        let outputs: Vec<_> = outputs.into_iter().filter(|name| names.contains(&RecordName::output(name))).collect();
        let mut state = State::default();
        for address in &instances {
            replace_instance(ours, &mut state, address);
        }
        for name in &outputs {
            replace_output(ours, &mut state, name);
        }
        Self { state, instances, outputs }
    }

    /// Makes `base` have those of the records that are stored. Returns their names.
    pub fn settle(&self, base: &mut State, stored: &State) -> BTreeSet<RecordName> {
        let mut landed = BTreeSet::new();
        for address in &self.instances {
            let is_stored = is_same_instance(self.state.get(address), stored.get(address))
                && has_same_provider(&self.state, stored, address);
            if is_stored {
                replace_instance(&self.state, base, address);
                landed.insert(RecordName::instance(address));
            }
        }
        for name in self.outputs.iter().filter(|name| self.state.outputs.get(*name) == stored.outputs.get(*name)) {
            replace_output(&self.state, base, name);
            landed.insert(RecordName::output(name));
        }
        landed
    }
}
