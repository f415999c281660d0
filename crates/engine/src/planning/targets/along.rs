//! Instances that are destroyed together with targeted ones.

use std::collections::{HashMap, HashSet};

use groma_address::{ModuleInstance, ResourceInstance};

use crate::config_graph::{ModuleIndex, NodeIndex};

/// The instances of dependent resources that a targeted destroy includes. The state does not record this, but the configuration implies
/// it: a connection
/// inside one module holds separately in each of its instances.
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
