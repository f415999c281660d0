//! What the changes of a plan were decided on: attributes of resources that the changing blocks and outputs mention,
//! directly or through values, and what those come from.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use groma_address::{AbsResource, InstanceKey, ModuleInstance, Name};
use groma_config::Resource;
use groma_hcl::{BodySchema, Ident, Label, Step, Traversal};
use groma_lang::{Reference, Referenced};
use groma_value::{Path, PathStep};

use super::ignore::relative_path;
use crate::config_graph::{
    ConfigGraph, ModuleIndex, NodeIndex, NodeKind, body_references, expression_references, narrow, traversal_references,
};
use crate::plan::{Action, OutputChange, RelevantAttribute, ResourceChange};
use crate::world::World;

/// Works them out; each is there once, sorted.
pub(super) fn attributes(
    world: &World,
    changes: &[ResourceChange],
    outputs: &[OutputChange],
) -> Vec<RelevantAttribute> {
    let mut search = Search::new(world.graph());
    let mut last: Option<&ResourceChange> = None;
    for change in changes.iter().filter(|change| change.action != Action::NoOp) {
        let one = &change.address;
        // Instances of one resource follow each other.
        if last.is_some_and(|last| last.address.resource == one.resource && last.address.module == one.module) {
            continue;
        }
        last = Some(change);
        search.change(change);
    }
    for change in outputs.iter().filter(|change| change.action != Action::NoOp) {
        search.output(ConfigGraph::ROOT, &ModuleInstance::root(), &change.name);
    }
    // Outputs of other modules are kept nowhere, so each is new in every plan.
    for (_, module) in world.modules().filter(|(_, module)| module.caller.is_some()) {
        let known = world.graph().module(module.of).config.outputs.keys().zip(&module.outputs);
        for (name, _) in known.filter(|(_, value)| value.as_ref().is_some_and(|value| !value.is_null())) {
            search.output(module.of, &module.address, name);
        }
    }
    search.run();
    search.finish()
}

/// An instance of a module, or, where a reference names no key, the module as a whole.
type Place = u32;

/// What is to be looked at, or was.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Visit {
    place: Place,
    node: NodeIndex,
    /// The argument or block of a resource that matters; all of them if none.
    part: Option<Name>,
}

struct Search<'a> {
    graph: &'a ConfigGraph,
    places: Vec<(ModuleIndex, ModuleInstance)>,
    by_address: HashMap<ModuleInstance, Place>,
    seen: HashSet<Visit>,
    open: Vec<Visit>,
    /// What a node mentions is the same in all instances of its module.
    mentioned: HashMap<(ModuleIndex, NodeIndex, Option<Name>), Arc<[Referenced]>>,
    /// By place and position in the module: numbers compare faster than addresses. One can be there many times.
    found: Vec<(Place, u32, Path)>,
}

impl<'a> Search<'a> {
    fn new(graph: &'a ConfigGraph) -> Self {
        Self {
            graph,
            places: Vec::new(),
            by_address: HashMap::new(),
            seen: HashSet::new(),
            open: Vec::new(),
            mentioned: HashMap::new(),
            found: Vec::new(),
        }
    }

    fn place(&mut self, index: ModuleIndex, address: &ModuleInstance) -> Place {
        if let Some(place) = self.by_address.get(address) {
            return *place;
        }
        let place = narrow(self.places.len());
        self.places.push((index, address.clone()));
        self.by_address.insert(address.clone(), place);
        place
    }

    fn change(&mut self, change: &ResourceChange) {
        let address = &change.address;
        if let Some((index, node)) = self.graph.find_resource(&address.config_resource()) {
            let place = self.place(index, &address.module);
            self.visit(Visit { place, node, part: None });
        }
    }

    fn output(&mut self, index: ModuleIndex, module: &ModuleInstance, name: &Name) {
        let of = self.graph.module(index);
        if let Some(at) = of.config.outputs.get_index_of(name) {
            let place = self.place(index, module);
            self.visit(Visit { place, node: of.output(at), part: None });
        }
    }

    /// To be looked at, if it has not been.
    fn visit(&mut self, visit: Visit) {
        if self.seen.insert(visit.clone()) {
            self.open.push(visit);
        }
    }

    fn run(&mut self) {
        while let Some(Visit { place, node, part }) = self.open.pop() {
            let index = self.places[place as usize].0;
            if let NodeKind::Variable(at) = self.graph.module(index).node(node).kind {
                self.argument(place, at);
                continue;
            }
            let graph = self.graph;
            let mentioned = self
                .mentioned
                .entry((index, node, part.clone()))
                .or_insert_with(|| mentioned(graph, index, node, part.as_ref()).into());
            for found in Arc::clone(mentioned).iter() {
                self.reference(place, found);
            }
        }
    }

    /// What was found, each once, in the order of addresses.
    fn finish(mut self) -> Vec<RelevantAttribute> {
        self.found.sort_unstable();
        self.found.dedup();
        let addressed = self.found.into_iter().filter_map(|(place, position, path)| {
            let (index, module) = &self.places[place as usize];
            let (address, _) = self.graph.module(*index).config.resources.get_index(position as usize)?;
            let resource: AbsResource = address.absolute(module.clone());
            Some(RelevantAttribute { resource, path })
        });
        let mut all: Vec<RelevantAttribute> = addressed.collect();
        all.sort();
        all
    }

    /// A variable of a child module is what its call's argument mentions.
    fn argument(&mut self, place: Place, at: u32) {
        let (index, address) = self.places[place as usize].clone();
        let module = self.graph.module(index);
        let (Some(caller), Some(calling_address)) = (module.caller, address.parent()) else { return };
        let calling = self.graph.module(caller.module);
        let name = module.config.variables.get_index(at as usize).map(|(name, _)| name);
        let call = calling.config.calls.get_index(caller.call as usize).map(|(_, call)| call);
        let (Some(name), Some(call)) = (name, call) else { return };
        let (arguments, _) = call.body.attributes();
        if let Some(argument) = arguments.iter().find(|argument| argument.name.name == *name) {
            let place = self.place(caller.module, &calling_address);
            for found in expression_references(&argument.expression) {
                self.reference(place, &found);
            }
        }
    }

    fn reference(&mut self, place: Place, found: &Referenced) {
        let index = self.places[place as usize].0;
        let module = self.graph.module(index);
        let config = &module.config;
        match &found.target {
            Reference::Resource(address) => {
                if let Some(at) = config.resources.get_index_of(address) {
                    let path = path_of(&found.rest);
                    let part = match path.steps().first() {
                        Some(PathStep::Attribute(name)) => Some(name.clone()),
                        _ => None,
                    };
                    self.found.push((place, narrow(at), path));
                    self.visit(Visit { place, node: module.resource(at), part });
                }
            }
            Reference::Local(name) => {
                if let Some(at) = config.locals.get_index_of(name) {
                    self.visit(Visit { place, node: module.local(at), part: None });
                }
            }
            Reference::Variable(name) => {
                if let Some(at) = config.variables.get_index_of(name) {
                    self.visit(Visit { place, node: module.variable(at), part: None });
                }
            }
            Reference::Module(name) => self.call(place, name, found),
            _ => {}
        }
    }

    fn call(&mut self, place: Place, name: &Name, found: &Referenced) {
        let (index, address) = self.places[place as usize].clone();
        let module = self.graph.module(index);
        let Some(at) = module.config.calls.get_index_of(name) else { return };
        let Some(child) = module.children.get(at).copied().flatten() else { return };
        let called = self.graph.module(child);
        let key = found.key.clone().unwrap_or(InstanceKey::None);
        let place = self.place(child, &address.child(name.clone(), key));
        let one = match found.rest.first() {
            Some(Step::Attribute { name, .. }) => called.config.outputs.get_index_of(name).map(|at| at..at + 1),
            _ => None,
        };
        for output in one.unwrap_or(0..called.config.outputs.len()) {
            self.visit(Visit { place, node: called.output(output), part: None });
        }
    }
}

/// What a node mentions in its own module.
fn mentioned(graph: &ConfigGraph, index: ModuleIndex, node: NodeIndex, part: Option<&Name>) -> Vec<Referenced> {
    let module = graph.module(index);
    let config = &module.config;
    let found = match module.node(node).kind {
        NodeKind::Resource(at) => {
            config.resources.get_index(at as usize).map(|(_, resource)| resource_references(resource, part))
        }
        NodeKind::Local(at) => {
            config.locals.get_index(at as usize).map(|(_, local)| expression_references(&local.expression))
        }
        NodeKind::Output(at) => {
            config.outputs.get_index(at as usize).map(|(_, output)| expression_references(&output.expression))
        }
        _ => None,
    };
    found.unwrap_or_default()
}

fn resource_references(resource: &Resource, part: Option<&Name>) -> Vec<Referenced> {
    let Some(part) = part else {
        let mut all = body_references(&resource.body);
        for expression in [&resource.count, &resource.for_each].into_iter().flatten() {
            all.extend(expression_references(expression));
        }
        all.extend(traversal_references(&resource.depends_on));
        return all;
    };
    let (arguments, _) = resource.body.attributes();
    if let Some(argument) = arguments.iter().find(|argument| argument.name.name == *part) {
        return expression_references(&argument.expression);
    }
    let blocks = BodySchema::new().block(part.clone(), &[]).block("dynamic", &["kind"]);
    let (content, _, _) = resource.body.partial_content(&blocks);
    let makes = |label: &Label| label.value == *part;
    let dynamic = content.blocks_of("dynamic").filter(|block| block.labels.first().is_some_and(makes));
    content.blocks_of(part).chain(dynamic).flat_map(|block| body_references(&block.body)).collect()
}

/// The steps after a resource; indexes of instances are left out by the reference already.
fn path_of(rest: &[Step]) -> Path {
    match rest.split_first() {
        Some((Step::Attribute { name, span }, steps)) => {
            let root = Ident::new(name.clone(), *span);
            relative_path(&Traversal { root, steps: steps.to_vec(), span: *span })
        }
        _ => Path::root(),
    }
}
