//! A graph under construction: nodes by name.

use std::collections::{BTreeMap, BTreeSet};

use groma_address::{ConfigResource, Mode as ResourceMode, ModulePath, ProviderConfig};
use groma_config::Configuration;
use groma_plan::{Action, Plan, ResourceChange};
use groma_state::State;

use super::drawn::{Drawn, DrawnObject, OperationNode, in_order};
use crate::config_graph::{ConfigGraph, ModuleIndex, NodeKind, NodeRef, Requirement, StaticModule};

/// The operation whose graph is drawn.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'a> {
    /// Planning, beside this state.
    Plan(&'a State),
    /// Applying whatever would be planned beside this state.
    Apply(&'a State),
    /// The apply of this plan.
    Planned(&'a Plan),
    /// Planning that everything goes that this state has.
    Destroy(&'a State),
}

pub(super) fn config_resource(change: &ResourceChange) -> ConfigResource {
    change.address.resource.in_module(change.address.module.path())
}

fn changes_by_resource(plan: &Plan) -> BTreeMap<String, Vec<&ResourceChange>> {
    let mut changes: BTreeMap<String, Vec<&ResourceChange>> = BTreeMap::new();
    for change in plan.changes.iter().filter(|change| change.deposed.is_none()) {
        if matches!(change.action, Action::Create | Action::Update | Action::Read) || change.action.is_replace() {
            changes.entry(config_resource(change).to_string()).or_default().push(change);
        }
    }
    changes
}

/// The nodes drawn so far, by name.
pub(super) struct Drawing<'a> {
    pub(super) configuration: &'a Configuration,
    pub(super) graph: &'a ConfigGraph,
    pub(super) operation: Operation<'a>,
    /// The instances that apply makes or changes, by the resource.
    pub(super) changes: BTreeMap<String, Vec<&'a ResourceChange>>,
    pub(super) nodes: BTreeMap<String, Drawn>,
}

/// `module.a.module.b.` before the name of what is in that module.
pub(super) fn prefix(module: &StaticModule) -> String {
    if module.path().is_root() { String::new() } else { format!("{}.", module.path()) }
}

/// The name at a position.
pub(super) fn at<V, S>(list: &indexmap::IndexMap<groma_address::Name, V, S>, position: u32) -> String {
    list.get_index(position as usize).map(|(name, _)| name.to_string()).unwrap_or_default()
}

impl<'a> Drawing<'a> {
    pub(super) fn new(configuration: &'a Configuration, graph: &'a ConfigGraph, operation: Operation<'a>) -> Self {
        let changes = match operation {
            Operation::Plan(_) | Operation::Apply(_) | Operation::Destroy(_) => BTreeMap::new(),
            Operation::Planned(plan) => changes_by_resource(plan),
        };
        Self { configuration, graph, operation, changes, nodes: BTreeMap::new() }
    }

    /// Adds a node, or further dependencies of an existing one.
    pub(super) fn add(
        &mut self,
        name: String,
        object: Option<DrawnObject>,
        depends_on: impl IntoIterator<Item = String>,
    ) {
        let drawn = self.nodes.entry(name).or_default();
        // The first caller determines the object; later ones may only add edges.
        drawn.object = drawn.object.take().or(object);
        drawn.depends_on.extend(depends_on);
    }

    /// A provider configuration with its end; gives the name of its node.
    pub(super) fn provider(&mut self, provider: &ProviderConfig) -> String {
        let name = provider.to_string();
        self.add(name.clone(), Some(DrawnObject::Provider(name.clone())), []);
        self.add(format!("{name} (close)"), None, [name.clone()]);
        name
    }

    /// Returns the nodes of a resource: its instances where the plan changes some, or its expansion.
    pub(super) fn instances(&self, resource: &str) -> Vec<String> {
        match self.changes.get(resource) {
            Some(changes) => changes.iter().map(|change| change.address.to_string()).collect(),
            None => vec![format!("{resource} (expand)")],
        }
    }

    /// Returns the names of the drawn nodes for a node of the configuration.
    pub(super) fn names(&self, module: &StaticModule, kind: NodeKind) -> Vec<String> {
        let (config, own) = (&module.config, prefix(module));
        let name = match kind {
            // Variables of the root module have no instances, so Terraform's graph shows them without the suffix.
            NodeKind::Variable(position) if own.is_empty() => format!("var.{}", at(&config.variables, position)),
            NodeKind::Variable(position) => format!("{own}var.{} (expand)", at(&config.variables, position)),
            NodeKind::Local(position) => format!("{own}local.{} (expand)", at(&config.locals, position)),
            NodeKind::Output(position) => format!("{own}output.{} (expand)", at(&config.outputs, position)),
            NodeKind::Call(position) => format!("{own}module.{} (expand)", at(&config.calls, position)),
            NodeKind::CallEnd(position) => format!("{own}module.{} (close)", at(&config.calls, position)),
            NodeKind::Check(position) => format!("{own}check.{} (expand)", at(&config.checks, position)),
            NodeKind::Action(position) => match config.actions.get_index(position as usize) {
                Some((_, action)) => format!("{own}action.{}.{} (expand)", action.type_name, action.name),
                None => return Vec::new(),
            },
            NodeKind::Resource(position) => match config.resources.get_index(position as usize) {
                Some((address, _)) => return self.instances(&address.in_module(module.path().clone()).to_string()),
                None => return Vec::new(),
            },
            NodeKind::CallOutput { call, output } => {
                let Some(child) = module.children.get(call as usize).copied().flatten() else { return Vec::new() };
                let child = self.graph.module(child);
                format!("{}output.{} (expand)", prefix(child), at(&child.config.outputs, output))
            }
            NodeKind::Validation(_) | NodeKind::Provider(_) | NodeKind::Import(_) | NodeKind::Trigger(_) => {
                return Vec::new();
            }
        };
        vec![name]
    }

    /// The names of what a reference leads to.
    pub(super) fn required(&self, index: ModuleIndex, requirement: &Requirement) -> Vec<String> {
        let module = self.graph.module(index);
        let (module, node) = match requirement.node_ref {
            NodeRef::Here(node) => (module, node),
            NodeRef::Caller(node) => match module.caller {
                Some(caller) => (self.graph.module(caller.module), node),
                None => return Vec::new(),
            },
            NodeRef::Above(index, node) => (self.graph.module(index), node),
        };
        let kind = module.kind(node);
        let mut names = self.names(module, kind);
        if let (NodeKind::Resource(_), Some(key)) = (kind, &requirement.key) {
            let one: Vec<String> = names.iter().filter(|name| name.ends_with(&key.to_string())).cloned().collect();
            // Without a planned change of that instance, the reference leads to the whole resource.
            names = if one.is_empty() { names } else { one };
        }
        if let (NodeKind::Variable(position), [name]) = (kind, &*names) {
            let variable = module.config.variables.get_index(position as usize);
            if variable.is_some_and(|(_, variable)| !variable.validations.is_empty()) {
                // References wait for the validation, so that no invalid value is used.
                return vec![format!("{} (validation)", name.trim_end_matches(" (expand)"))];
            }
        }
        names
    }

    /// Leaves out provider configurations that nothing uses.
    pub(super) fn leave_out_unused(&mut self) {
        let used: BTreeSet<String> =
            self.nodes.keys().filter_map(|name| name.strip_suffix(" (close)")).map(str::to_owned).collect();
        self.nodes.retain(|name, drawn| !matches!(drawn.object, Some(DrawnObject::Provider(_))) || used.contains(name));
    }

    /// All nodes, with the end of all: after whatever nothing else waits for.
    pub(super) fn finish(mut self) -> Vec<OperationNode> {
        let waited: BTreeSet<&String> = self.nodes.values().flat_map(|drawn| &drawn.depends_on).collect();
        let last: Vec<String> = self.nodes.keys().filter(|name| !waited.contains(name)).cloned().collect();
        self.add("root".to_owned(), None, last);
        in_order(self.nodes)
    }
}

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
                // The provider must stay open until the orphan is deleted.
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
    pub(super) fn orphaned(&mut self, state: &State) {
        self.orphaned_outputs(state);
        self.orphaned_modules(state);
    }

    /// Outputs whose blocks are gone.
    pub(super) fn orphaned_outputs(&mut self, state: &State) {
        for name in state.outputs.keys().filter(|name| !self.configuration.root.outputs.contains_key(*name)) {
            let name = format!("output.{name} (destroy)");
            self.add(name.clone(), Some(DrawnObject::Output(name)), []);
        }
    }

    /// Modules whose calls are gone come to their end, too.
    fn orphaned_modules(&mut self, state: &State) {
        let mut last: Option<ModulePath> = None;
        for instance in state.iter() {
            let path = instance.resource.module.path();
            // Neighbors mostly share their module, so this comparison avoids repeated work.
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
