//! Nodes for orphans: objects that only the state has.

use groma_address::{Mode as ResourceMode, ModulePath};
use groma_state::State;

use super::drawing::Drawing;
use super::drawn::DrawnObject;

impl Drawing<'_> {
    /// Objects whose blocks are gone.
    pub(super) fn orphans(&mut self, state: &State) {
        for instance in state.iter().filter(|instance| instance.record.current.is_some()) {
            let resource = instance.resource.resource.in_module(instance.resource.module.path());
            if self.graph.find_resource(&resource).is_some() {
                continue;
            }
            let name = format!("{} (orphan)", instance.address());
            let mut depends_on = Vec::new();
            // Data sources leave the state by themselves.
            if resource.resource.mode == ResourceMode::Managed {
                let provider = self.provider(&instance.provider.block());
                self.add(format!("{provider} (close)"), None, [name.clone()]);
                depends_on.push(provider);
            }
            if !resource.module.is_root() && self.graph.find(&resource.module).is_some() {
                self.add(format!("{} (close)", resource.module), None, [name.clone()]);
                depends_on.push(format!("{} (expand)", resource.module));
            }
            self.add(name, Some(DrawnObject::Resource(resource.to_string())), depends_on);
        }
    }

    /// Modules and outputs whose blocks are gone.
    pub(super) fn lost(&mut self, state: &State) {
        self.lost_outputs(state);
        self.lost_modules(state);
    }

    /// Outputs whose blocks are gone.
    pub(super) fn lost_outputs(&mut self, state: &State) {
        for name in state.outputs.keys().filter(|name| !self.configuration.root.outputs.contains_key(*name)) {
            let name = format!("output.{name} (destroy)");
            self.add(name.clone(), Some(DrawnObject::Output(name)), []);
        }
    }

    /// Modules whose calls are gone come to their end, too.
    fn lost_modules(&mut self, state: &State) {
        let mut last: Option<ModulePath> = None;
        for instance in state.iter() {
            let path = instance.resource.module.path();
            if last.as_ref() == Some(&path) {
                continue;
            }
            for length in 1..=path.steps().len() {
                let above = ModulePath::from_names(path.steps().iter().take(length).cloned());
                if self.graph.find(&above).is_none() {
                    self.add(format!("{above} (close)"), None, []);
                }
            }
            last = Some(path);
        }
    }
}
