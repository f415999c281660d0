//! Which instances go along with what is destroyed.

use std::collections::{HashMap, HashSet};

use groma_address::{ModuleInstance, ResourceInstance};

use crate::config_graph::{ModuleIndex, NodeIndex};

/// Which instances of a resource stand on something chosen. The state does not say so, but the configuration does: what is connected
/// inside of a module alone is so in each of its instances by itself.
#[derive(Debug, Default)]
pub(super) struct Along {
    /// By resource: how many steps of the modules around it all ways from it to what is chosen stay below.
    pub(super) common: HashMap<(ModuleIndex, NodeIndex), usize>,
    /// The module instances that something chosen is in, and all around these.
    around: HashSet<ModuleInstance>,
}

impl Along {
    /// Notes what is chosen.
    pub(super) fn choose(&mut self, address: &ResourceInstance) {
        let mut module = Some(address.module.clone());
        while let Some(here) = module {
            module = here.parent();
            if !self.around.insert(here) {
                return;
            }
        }
    }

    /// Whether an instance of the resource goes along; so does whatever nothing is known of.
    pub(super) fn goes(&self, place: (ModuleIndex, NodeIndex), address: &ResourceInstance) -> bool {
        let Some(common) = self.common.get(&place) else { return true };
        let mut module = address.module.clone();
        while module.steps().len() > *common {
            let Some(parent) = module.parent() else { break };
            module = parent;
        }
        self.around.contains(&module)
    }
}
