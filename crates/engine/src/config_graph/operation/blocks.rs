//! Nodes for the blocks of the configuration, and for the changes that a plan makes to them.

use super::drawing::{Drawing, Operation, at, prefix};
use super::drawn::DrawnObject;
use crate::config_graph::{ModuleIndex, NodeIndex, NodeKind, StaticModule};
use crate::plan::Action;

impl Drawing<'_> {
    /// The nodes of all modules.
    pub(super) fn blocks(&mut self) {
        let graph = self.graph;
        for (index, module) in graph.modules() {
            for (node, kind) in module.nodes() {
                self.node(index, module, node, kind);
            }
        }
    }

    fn node(&mut self, index: ModuleIndex, module: &StaticModule, node: NodeIndex, kind: NodeKind) {
        let mut depends_on: Vec<String> =
            self.graph.requires(index, node).iter().flat_map(|requirement| self.required(index, requirement)).collect();
        if !module.path().is_root() && !matches!(kind, NodeKind::CallEnd(_) | NodeKind::CallOutput { .. }) {
            depends_on.push(format!("{} (expand)", module.path()));
        }
        let own = prefix(module);
        let object = match kind {
            NodeKind::Variable(position) => {
                let name = format!("{own}var.{}", at(&module.config.variables, position));
                self.validations(module, position, &name);
                module.path().is_root().then_some(DrawnObject::Variable(name))
            }
            // These are drawn with what they belong to.
            NodeKind::Validation(position) => {
                let name = format!("{own}var.{}", at(&module.config.variables, position));
                depends_on.retain(|other| *other != format!("{name} (validation)"));
                return self.add(format!("{name} (validation)"), None, depends_on);
            }
            NodeKind::CallOutput { .. } | NodeKind::Import(_) | NodeKind::Trigger(_) => return,
            NodeKind::Resource(position) => return self.resource(module, position, depends_on),
            NodeKind::Provider(position) => {
                let Some((_, block)) = module.config.providers.get_index(position as usize) else { return };
                let resolved = self.configuration.resolve_provider_config(module.path(), &block.provider);
                let Ok(config) = resolved else { return };
                return self.add(config.to_string(), Some(DrawnObject::Provider(config.to_string())), depends_on);
            }
            NodeKind::Check(_) if matches!(self.operation, Operation::Plan(_)) => {
                let [name, ..] = &*self.names(module, kind) else { return };
                let report = name.replace(" (expand)", " (report)");
                self.add(report.clone(), None, []);
                depends_on.push(report);
                None
            }
            NodeKind::CallEnd(call) => {
                depends_on.extend(self.inside(module, call));
                None
            }
            _ => None,
        };
        for name in self.names(module, kind) {
            self.add(name, object.clone(), depends_on.iter().cloned());
        }
    }

    /// Adds the validation rules of a variable, for which every reference to the variable waits.
    fn validations(&mut self, module: &StaticModule, position: u32, name: &str) {
        let variable = module.config.variables.get_index(position as usize);
        if variable.is_some_and(|(_, variable)| !variable.validations.is_empty()) {
            let own = if module.path().is_root() { name.to_owned() } else { format!("{name} (expand)") };
            self.add(format!("{name} (validation)"), None, [own]);
        }
    }

    /// Everything in a module that is called.
    fn inside(&self, module: &StaticModule, call: u32) -> Vec<String> {
        let Some(child) = module.children.get(call as usize).copied().flatten() else { return Vec::new() };
        let child = self.graph.module(child);
        child.nodes().flat_map(|(_, kind)| self.names(child, kind)).collect()
    }

    fn resource(&mut self, module: &StaticModule, position: u32, mut depends_on: Vec<String>) {
        let Some((address, resource)) = module.config.resources.get_index(position as usize) else { return };
        let name = address.in_module(module.path().clone()).to_string();
        if let Ok(provider) = self.configuration.provider_config(module.path(), resource) {
            depends_on.push(self.provider(&provider));
            let instances = self.instances(&name);
            self.add(format!("{provider} (close)"), None, instances);
        }
        if let (Some(check), Operation::Plan(_)) = (&resource.check, self.operation) {
            depends_on.push(format!("{}check.{check} (report)", prefix(module)));
        }
        let object = Some(DrawnObject::Resource(name.clone()));
        for change in self.changes.get(&name).cloned().unwrap_or_default() {
            let mut before = vec![format!("{name} (expand)")];
            if change.action == Action::DeleteThenCreate {
                before.push(format!("{} (destroy)", change.address));
            }
            self.add(change.address.to_string(), object.clone(), before);
        }
        self.add(format!("{name} (expand)"), object, depends_on);
    }
}
