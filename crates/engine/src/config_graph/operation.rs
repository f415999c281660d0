//! The whole graph of an operation, for those who draw it: with the names that Terraform gives the nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groma_address::{ConfigResource, Mode as ResourceMode, ModuleInstance, ProviderConfig};
use groma_config::Configuration;
use groma_diagnostics::Diagnostics;
use groma_state::State;

use super::circles::{Circles, circular};
use super::reduction::reduce;
use super::{ConfigGraph, ModuleIndex, NodeIndex, NodeKind, Place, Requirement, StaticModule};
use crate::plan::{Action, Mode, Plan, ResourceChange};

/// Which operation.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'a> {
    /// Planning, beside this state.
    Plan(&'a State),
    /// Applying whatever would be planned beside this state.
    Apply(&'a State),
    /// Applying this plan.
    Planned(&'a Plan),
    /// Planning that everything goes that this state has.
    Destroy(&'a State),
}

/// A node of the graph of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationNode {
    /// What it is called; each name once.
    pub name: String,
    /// What it stands for, where that is an object that people wrote.
    pub object: Option<DrawnObject>,
    /// The positions of those that come before, without what follows from others.
    pub depends_on: Vec<usize>,
    /// Those of them that are part of a circle.
    pub circular: Vec<usize>,
}

/// An object of the configuration that is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DrawnObject {
    /// A resource, or an instance of it.
    Resource(String),
    /// A provider configuration.
    Provider(String),
    /// An input variable of the root module.
    Variable(String),
    /// An output value that goes.
    Output(String),
}

/// The nodes of an operation in the order of their names.
///
/// # Errors
/// The references lead in a circle, and that is refused.
pub fn operation_graph(
    configuration: &Arc<Configuration>,
    operation: Operation<'_>,
    circles: Circles,
) -> Result<Vec<OperationNode>, Diagnostics> {
    let graph = ConfigGraph::new(configuration);
    let diagnostics = graph.check();
    if diagnostics.has_errors() && circles == Circles::Refused {
        return Err(diagnostics);
    }
    let changes = match operation {
        Operation::Plan(_) | Operation::Apply(_) | Operation::Destroy(_) => BTreeMap::new(),
        Operation::Planned(plan) => changes_by_resource(plan),
    };
    let mut drawing = Drawing { configuration, graph: &graph, changes, nodes: BTreeMap::new() };
    match operation {
        Operation::Destroy(state) => {
            drawing.everything_goes(state);
            drawing.lost_outputs(state);
        }
        Operation::Planned(plan) if plan.mode == Mode::Destroy => {
            drawing.outputs();
            drawing.data_goes(&plan.prior_state);
            drawing.deletions(plan);
            drawing.lost_outputs(&plan.prior_state);
        }
        Operation::Plan(_) | Operation::Apply(_) | Operation::Planned(_) => drawing.blocks(operation),
    }
    drawing.root();
    Ok(finish(drawing.nodes))
}

/// Whether two module instances are in the same instances of the calls that both are in.
fn beside(one: &ModuleInstance, other: &ModuleInstance) -> bool {
    let mut pairs = one.steps().iter().zip(other.steps()).take_while(|(one, other)| one.name == other.name);
    pairs.all(|(one, other)| one.key == other.key)
}

fn config_resource(change: &ResourceChange) -> ConfigResource {
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

/// Whether nothing but a dependency speaks of the object that goes.
fn is_unfounded(name: &str, drawn: &Drawn) -> bool {
    drawn.object.is_none() && name.ends_with(" (destroy)")
}

#[derive(Default)]
struct Drawn {
    object: Option<DrawnObject>,
    depends_on: BTreeSet<String>,
}

pub(super) struct Drawing<'a> {
    pub(super) configuration: &'a Configuration,
    pub(super) graph: &'a ConfigGraph,
    /// The instances that apply makes or changes, by the resource.
    changes: BTreeMap<String, Vec<&'a ResourceChange>>,
    nodes: BTreeMap<String, Drawn>,
}

/// `module.a.module.b.` before the name of what is in that module.
fn prefix(module: &StaticModule) -> String {
    if module.path().is_root() { String::new() } else { format!("{}.", module.path()) }
}

fn at<V, S>(list: &indexmap::IndexMap<groma_address::Name, V, S>, position: u32) -> String {
    list.get_index(position as usize).map(|(name, _)| name.to_string()).unwrap_or_default()
}

impl Drawing<'_> {
    /// What the configuration says, and what the plan does to it.
    fn blocks(&mut self, operation: Operation<'_>) {
        let graph = self.graph;
        for (index, module) in graph.modules() {
            for (node, kind) in module.nodes() {
                self.node(index, module, node, kind, operation);
            }
        }
        match operation {
            Operation::Planned(plan) => {
                self.deletions(plan);
                self.lost(&plan.prior_state);
            }
            Operation::Plan(state) => {
                self.orphans(state);
                self.lost(state);
            }
            Operation::Apply(state) => self.lost(state),
            Operation::Destroy(_) => {}
        }
        self.unused();
    }

    fn outputs(&mut self) {
        for name in self.configuration.root.outputs.keys() {
            self.add(format!("output.{name} (expand)"), None, []);
        }
    }

    /// Data sources leave the state by themselves.
    fn data_goes(&mut self, state: &State) {
        for instance in state.iter().filter(|instance| instance.resource.resource.mode == ResourceMode::Data) {
            let resource = instance.resource.resource.in_module(instance.resource.module.path()).to_string();
            self.add(format!("{} (destroy)", instance.address()), Some(DrawnObject::Resource(resource)), []);
        }
    }

    pub(super) fn add(
        &mut self,
        name: String,
        object: Option<DrawnObject>,
        depends_on: impl IntoIterator<Item = String>,
    ) {
        let drawn = self.nodes.entry(name).or_default();
        drawn.object = drawn.object.take().or(object);
        drawn.depends_on.extend(depends_on);
    }

    fn node(
        &mut self,
        index: ModuleIndex,
        module: &StaticModule,
        node: NodeIndex,
        kind: NodeKind,
        operation: Operation<'_>,
    ) {
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
            NodeKind::Resource(position) => return self.resource(module, position, depends_on, operation),
            NodeKind::Provider(position) => {
                let Some((_, block)) = module.config.providers.get_index(position as usize) else { return };
                let resolved = self.configuration.resolve_provider_config(module.path(), &block.provider);
                let Ok(config) = resolved else { return };
                return self.add(config.to_string(), Some(DrawnObject::Provider(config.to_string())), depends_on);
            }
            NodeKind::Check(_) if matches!(operation, Operation::Plan(_)) => {
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

    /// Whoever refers to a variable waits for its rules.
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

    fn resource(
        &mut self,
        module: &StaticModule,
        position: u32,
        mut depends_on: Vec<String>,
        operation: Operation<'_>,
    ) {
        let Some((address, resource)) = module.config.resources.get_index(position as usize) else { return };
        let name = address.in_module(module.path().clone()).to_string();
        if let Ok(provider) = self.configuration.provider_config(module.path(), resource) {
            depends_on.push(self.provider(&provider));
            let instances = self.instances(&name);
            self.add(format!("{provider} (close)"), None, instances);
        }
        if let (Some(check), Operation::Plan(_)) = (&resource.check, operation) {
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

    pub(super) fn provider(&mut self, provider: &ProviderConfig) -> String {
        let name = provider.to_string();
        self.add(name.clone(), Some(DrawnObject::Provider(name.clone())), []);
        self.add(format!("{name} (close)"), None, [name.clone()]);
        name
    }

    /// What stands for a resource: its instances where the plan changes some, or its expansion.
    fn instances(&self, resource: &str) -> Vec<String> {
        match self.changes.get(resource) {
            Some(changes) => changes.iter().map(|change| change.address.to_string()).collect(),
            None => vec![format!("{resource} (expand)")],
        }
    }

    /// The names of what stands for a node.
    fn names(&self, module: &StaticModule, kind: NodeKind) -> Vec<String> {
        let (config, own) = (&module.config, prefix(module));
        let name = match kind {
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
    fn required(&self, index: ModuleIndex, requirement: &Requirement) -> Vec<String> {
        let module = self.graph.module(index);
        let (module, node) = match requirement.place {
            Place::Here(node) => (module, node),
            Place::Caller(node) => match module.caller {
                Some(caller) => (self.graph.module(caller.module), node),
                None => return Vec::new(),
            },
            Place::Above(index, node) => (self.graph.module(index), node),
        };
        let kind = module.kind(node);
        let mut names = self.names(module, kind);
        if let (NodeKind::Resource(_), Some(key)) = (kind, &requirement.key) {
            let one: Vec<String> = names.iter().filter(|name| name.ends_with(&key.to_string())).cloned().collect();
            names = if one.is_empty() { names } else { one };
        }
        if let (NodeKind::Variable(position), [name]) = (kind, &*names) {
            let variable = module.config.variables.get_index(position as usize);
            if variable.is_some_and(|(_, variable)| !variable.validations.is_empty()) {
                return vec![format!("{} (validation)", name.trim_end_matches(" (expand)"))];
            }
        }
        names
    }

    /// Objects that go: after those that depend on them.
    fn deletions(&mut self, plan: &Plan) {
        let goes = |change: &&ResourceChange| {
            matches!(change.action, Action::Delete | Action::DeleteThenCreate | Action::CreateThenDelete)
        };
        let mut gone: BTreeMap<ConfigResource, Vec<&ResourceChange>> = BTreeMap::new();
        for change in plan.changes.iter().filter(goes) {
            gone.entry(config_resource(change)).or_default().push(change);
        }
        for (resource, changes) in &gone {
            for change in changes {
                let name = self.deletion(resource, change);
                let stored = plan.prior_state.get(&change.address).and_then(|record| record.current.as_ref());
                let needed = stored.into_iter().flat_map(|object| object.dependencies.iter());
                let others = needed.filter_map(|needed| gone.get(needed)).flatten();
                for other in others.filter(|other| beside(&change.address.module, &other.address.module)) {
                    self.add(format!("{} (destroy)", other.address), None, [name.clone()]);
                }
            }
        }
    }

    /// An object that goes; gives the name of its node.
    fn deletion(&mut self, resource: &ConfigResource, change: &ResourceChange) -> String {
        let provider = self.provider(&change.provider.block());
        let name = format!("{} (destroy)", change.address);
        let mut depends_on = vec![provider.clone()];
        if change.action == Action::CreateThenDelete {
            depends_on.push(change.address.to_string());
        }
        self.add(name.clone(), Some(DrawnObject::Resource(resource.to_string())), depends_on);
        self.add(format!("{provider} (close)"), None, [name.clone()]);
        name
    }

    /// All objects of a state: each goes after those that depend on it.
    fn everything_goes(&mut self, state: &State) {
        self.outputs();
        for instance in state.iter() {
            let resource = instance.resource.resource.in_module(instance.resource.module.path());
            let provider = self.provider(instance.provider);
            let name = format!("{resource} (destroy)");
            self.add(name.clone(), Some(DrawnObject::Resource(resource.to_string())), [provider.clone()]);
            self.add(format!("{provider} (close)"), None, [name.clone()]);
            let needed = instance.record.current.iter().flat_map(|object| object.dependencies.iter());
            for needed in needed.filter(|needed| **needed != resource) {
                self.add(format!("{needed} (destroy)"), None, [name.clone()]);
            }
        }
        // A dependency that has no object any more is not drawn.
        let gone: Vec<String> =
            self.nodes.iter().filter(|(name, drawn)| is_unfounded(name, drawn)).map(|(name, _)| name.clone()).collect();
        for name in gone {
            self.nodes.remove(&name);
        }
    }

    /// Leaves out provider configurations that nothing uses.
    fn unused(&mut self) {
        let used: BTreeSet<String> =
            self.nodes.keys().filter_map(|name| name.strip_suffix(" (close)")).map(str::to_owned).collect();
        self.nodes.retain(|name, drawn| !matches!(drawn.object, Some(DrawnObject::Provider(_))) || used.contains(name));
    }

    /// The end of all: after whatever nothing else waits for.
    fn root(&mut self) {
        let waited: BTreeSet<&String> = self.nodes.values().flat_map(|drawn| &drawn.depends_on).collect();
        let last: Vec<String> = self.nodes.keys().filter(|name| !waited.contains(name)).cloned().collect();
        self.add("root".to_owned(), None, last);
    }
}

fn finish(nodes: BTreeMap<String, Drawn>) -> Vec<OperationNode> {
    let positions: BTreeMap<&str, usize> = nodes.keys().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    let edges: Vec<Vec<usize>> = nodes
        .values()
        .map(|drawn| drawn.depends_on.iter().filter_map(|name| positions.get(name.as_str()).copied()).collect())
        .collect();
    let circular = circular(&edges);
    let reduced = if circular.iter().all(Vec::is_empty) { reduce(&edges) } else { edges };
    let edges = reduced.into_iter().zip(circular);
    let node = |((name, drawn), (depends_on, circular)): ((String, Drawn), _)| OperationNode {
        name,
        object: drawn.object,
        depends_on,
        circular,
    };
    nodes.into_iter().zip(edges).map(node).collect()
}
