//! `-target`: the chosen addresses with what they depend on (PL-64).

use std::collections::{HashMap, HashSet};

use groma_address::{ConfigResource, ResourceInstance, Target};
use groma_state::Dependencies;

use crate::config_graph::{ConfigGraph, ModuleIndex, NodeIndex, NodeKind, Place, narrow};
use crate::plan::Mode;

/// What a plan for chosen targets looks at.
#[derive(Debug)]
pub struct Included {
    targets: Vec<Target>,
    nodes: HashSet<(ModuleIndex, NodeIndex)>,
    /// Resources that something chosen depends on: all their instances count. When destroying, those that depend on
    /// something chosen, because they cannot stay without it.
    required: HashSet<(ModuleIndex, NodeIndex)>,
    /// When destroying: the chosen resources and what they depend on, which are read first.
    read: HashSet<(ModuleIndex, NodeIndex)>,
    /// The chosen resources and, when destroying, what depends on them.
    resources: HashSet<ConfigResource>,
}

impl Included {
    /// Works it out; none when everything is looked at.
    pub fn new(graph: &ConfigGraph, targets: &[Target], mode: Mode) -> Option<Self> {
        if targets.is_empty() {
            return None;
        }
        let mut included = Self {
            targets: targets.to_vec(),
            nodes: HashSet::new(),
            required: HashSet::new(),
            read: HashSet::new(),
            resources: HashSet::new(),
        };
        let mut open = Vec::new();
        for (index, module) in graph.modules() {
            for (node, kind) in module.nodes() {
                if let NodeKind::Resource(position) = kind
                    && let Some(address) = graph.resource_address(index, position)
                    && targets.iter().any(|target| covers(target, &address))
                {
                    open.push((index, node));
                    included.resources.insert(address);
                }
            }
        }
        if mode == Mode::Destroy {
            included.close(graph, open.clone());
            included.read = std::mem::take(&mut included.nodes);
            let dependents = dependents(graph, &open);
            included.resources.extend(dependents.iter().filter_map(|place| address_of(graph, *place)));
            included.required = dependents.clone();
            open.extend(dependents.iter().copied());
            // What they stand on is looked at for its values only.
            let required = std::mem::take(&mut included.required);
            included.close(graph, open);
            included.required = required;
            return Some(included);
        }
        included.close(graph, open);
        included.add_outputs(graph);
        Some(included)
    }

    fn close(&mut self, graph: &ConfigGraph, mut open: Vec<(ModuleIndex, NodeIndex)>) {
        while let Some((index, node)) = open.pop() {
            if !self.nodes.insert((index, node)) {
                continue;
            }
            for next in requirements(graph, index, node) {
                if matches!(graph.module(next.0).kind(next.1), NodeKind::Resource(_)) {
                    self.required.insert(next);
                }
                open.push(next);
            }
        }
    }

    /// An output is worked out when all resources that it stands on are.
    fn add_outputs(&mut self, graph: &ConfigGraph) {
        let root = graph.module(ConfigGraph::ROOT);
        for at in 0..root.config.outputs.len() {
            let mut seen = HashSet::new();
            let mut open = vec![(ConfigGraph::ROOT, root.output(at))];
            let mut resources = 0;
            let mut missing = 0;
            while let Some((index, node)) = open.pop() {
                if !seen.insert((index, node)) {
                    continue;
                }
                if matches!(graph.module(index).kind(node), NodeKind::Resource(_)) {
                    resources += 1;
                    missing += usize::from(!self.nodes.contains(&(index, node)));
                    continue;
                }
                open.extend(requirements(graph, index, node));
            }
            if resources > 0 && missing == 0 {
                self.nodes.extend(seen);
            }
        }
    }

    /// Whether a node is looked at.
    pub fn node(&self, graph: &ConfigGraph, index: ModuleIndex, node: NodeIndex) -> bool {
        let module = graph.module(index);
        // What is triggered belongs to the resource; what it is about is looked at when it is triggered.
        let decides = match module.kind(node) {
            NodeKind::Trigger(at) => module.resource(at as usize),
            _ => node,
        };
        self.nodes.contains(&(index, decides))
    }

    /// Whether an instance of a resource in the configuration is planned.
    pub fn instance(&self, module: ModuleIndex, node: NodeIndex, address: &ResourceInstance) -> bool {
        self.required.contains(&(module, node)) || self.chosen(address)
    }

    /// Whether, when destroying, the objects of a resource are read first: what goes along with them is not.
    pub fn reads(&self, module: ModuleIndex, node: NodeIndex) -> bool {
        self.read.contains(&(module, node))
    }

    /// Whether an object whose record names these dependencies goes with what is destroyed.
    pub fn takes_along(&self, dependencies: &Dependencies) -> bool {
        dependencies.iter().any(|found| self.resources.contains(found))
    }

    /// Whether a target names an instance, itself or with what is around it.
    pub fn chosen(&self, address: &ResourceInstance) -> bool {
        self.targets.iter().any(|target| target.contains(address))
    }
}

/// Whether a target has to do with a resource as written.
fn covers(target: &Target, address: &ConfigResource) -> bool {
    match target {
        Target::Module(module) => module.path().contains(&address.module),
        Target::Resource(resource) => resource.config_resource() == *address,
        Target::Instance(instance) => instance.config_resource() == *address,
    }
}

/// What a node waits for, expansion included.
pub(super) fn requirements(graph: &ConfigGraph, index: ModuleIndex, node: NodeIndex) -> Vec<(ModuleIndex, NodeIndex)> {
    let module = graph.module(index);
    let mut found: Vec<(ModuleIndex, NodeIndex)> = Vec::new();
    for requirement in module.requires(node) {
        match (requirement.place, module.caller) {
            (Place::Here(node), _) => found.push((index, node)),
            (Place::Caller(node), Some(caller)) => found.push((caller.module, node)),
            (Place::Above(module, node), _) => found.push((module, node)),
            (Place::Caller(_), None) => {}
        }
    }
    if let Some(caller) = module.caller {
        found.push((caller.module, graph.module(caller.module).call(caller.call as usize)));
    }
    match module.kind(node) {
        NodeKind::CallOutput { call, output } => {
            if let Some(child) = module.children[call as usize] {
                found.push((child, graph.module(child).output(output as usize)));
            }
        }
        NodeKind::CallEnd(call) => {
            if let Some(child) = module.children[call as usize] {
                found.extend((0..narrow(graph.module(child).len())).map(|node| (child, NodeIndex(node))));
            }
        }
        _ => {}
    }
    found
}

/// The resources that stand on one of `chosen`, directly or through anything else.
fn dependents(graph: &ConfigGraph, chosen: &[(ModuleIndex, NodeIndex)]) -> HashSet<(ModuleIndex, NodeIndex)> {
    let mut users: HashMap<(ModuleIndex, NodeIndex), Vec<(ModuleIndex, NodeIndex)>> = HashMap::new();
    for (index, module) in graph.modules() {
        for at in 0..narrow(module.len()) {
            for required in requirements(graph, index, NodeIndex(at)) {
                users.entry(required).or_default().push((index, NodeIndex(at)));
            }
        }
    }
    let mut seen = HashSet::new();
    let mut open = chosen.to_vec();
    while let Some(place) = open.pop() {
        for user in users.get(&place).into_iter().flatten() {
            if seen.insert(*user) {
                open.push(*user);
            }
        }
    }
    seen.retain(|(index, node)| matches!(graph.module(*index).kind(*node), NodeKind::Resource(_)));
    seen
}

fn address_of(graph: &ConfigGraph, (index, node): (ModuleIndex, NodeIndex)) -> Option<ConfigResource> {
    match graph.module(index).kind(node) {
        NodeKind::Resource(at) => graph.resource_address(index, at),
        _ => None,
    }
}
