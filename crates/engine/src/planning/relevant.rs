//! What the changes of a plan were decided on: attributes of resources that the changing blocks mention, directly or
//! through values.

use groma_address::AbsResource;
use groma_hcl::{Ident, Step, Traversal};
use groma_lang::{Reference, Referenced};
use groma_value::Path;

use super::ignore::relative_path;
use crate::config_graph::{
    ConfigGraph, ModuleIndex, NodeIndex, NodeKind, body_references, expression_references, narrow, traversal_references,
};
use crate::plan::{Action, RelevantAttribute, ResourceChange};
use crate::world::World;

/// Works them out; each is there once, sorted.
pub(super) fn attributes(world: &World, changes: &[ResourceChange]) -> Vec<RelevantAttribute> {
    let graph = world.graph();
    let seen = graph.modules().map(|(_, module)| vec![false; module.nodes.len()]).collect();
    let mut search = Search { graph, seen, open: Vec::new(), found: Vec::new() };
    let mut last: Option<&ResourceChange> = None;
    for change in changes.iter().filter(|change| change.action != Action::NoOp) {
        let one = &change.address;
        // Instances of one resource follow each other.
        if last.is_some_and(|last| last.address.resource == one.resource && last.address.module == one.module) {
            continue;
        }
        last = Some(change);
        if let Some((module, node)) = place_of(world, change) {
            search.visit(module, node);
        }
    }
    while let Some((module, node)) = search.open.pop() {
        search.node(module, node);
    }
    search.finish()
}

/// The block that an instance belongs to.
fn place_of(world: &World, change: &ResourceChange) -> Option<(ModuleIndex, NodeIndex)> {
    let address = &change.address;
    match world.find(&address.module) {
        Some(module) => {
            let index = world.module(module).of;
            let module = world.graph().module(index);
            let position = module.config.resources.get_index_of(&address.resource)?;
            Some((index, module.resource(position)))
        }
        // The module instance is gone; its block may still be there.
        None => world.graph().find_resource(&address.config_resource()),
    }
}

struct Search<'a> {
    graph: &'a ConfigGraph,
    /// By module and node.
    seen: Vec<Vec<bool>>,
    open: Vec<(ModuleIndex, NodeIndex)>,
    /// By module and position in it: numbers compare faster than addresses. One can be there many times.
    found: Vec<(ModuleIndex, u32, Path)>,
}

impl Search<'_> {
    /// To be looked at, if it has not been.
    fn visit(&mut self, index: ModuleIndex, node: NodeIndex) {
        if !std::mem::replace(&mut self.seen[index.at()][node.at()], true) {
            self.open.push((index, node));
        }
    }

    /// What was found, each once, in the order of addresses.
    fn finish(mut self) -> Vec<RelevantAttribute> {
        self.found.sort_unstable();
        self.found.dedup();
        let addressed = self.found.into_iter().filter_map(|(index, position, path)| {
            let config = &self.graph.module(index).config;
            let (address, _) = config.resources.get_index(position as usize)?;
            let resource: AbsResource = address.absolute(config.path.unkeyed());
            Some(RelevantAttribute { resource, path })
        });
        let mut all: Vec<RelevantAttribute> = addressed.collect();
        all.sort();
        all
    }

    fn node(&mut self, index: ModuleIndex, node: NodeIndex) {
        let module = self.graph.module(index);
        let config = &module.config;
        let mentioned = match module.node(node).kind {
            NodeKind::Resource(at) => config.resources.get_index(at as usize).map(|(_, resource)| {
                let mut all = body_references(&resource.body);
                for expression in [&resource.count, &resource.for_each].into_iter().flatten() {
                    all.extend(expression_references(expression));
                }
                all.extend(traversal_references(&resource.depends_on));
                all
            }),
            NodeKind::Local(at) => {
                config.locals.get_index(at as usize).map(|(_, local)| expression_references(&local.expression))
            }
            NodeKind::Output(at) => {
                config.outputs.get_index(at as usize).map(|(_, output)| expression_references(&output.expression))
            }
            NodeKind::Variable(at) => return self.argument(index, at),
            _ => None,
        };
        for found in mentioned.unwrap_or_default() {
            self.reference(index, found);
        }
    }

    /// A variable of a child module is what its call's argument mentions.
    fn argument(&mut self, index: ModuleIndex, at: u32) {
        let module = self.graph.module(index);
        let Some(caller) = module.caller else { return };
        let calling = self.graph.module(caller.module);
        let name = module.config.variables.get_index(at as usize).map(|(name, _)| name);
        let call = calling.config.calls.get_index(caller.call as usize).map(|(_, call)| call);
        let (Some(name), Some(call)) = (name, call) else { return };
        let (arguments, _) = call.body.attributes();
        if let Some(argument) = arguments.iter().find(|argument| argument.name.name == *name) {
            for found in expression_references(&argument.expression) {
                self.reference(caller.module, found);
            }
        }
    }

    fn reference(&mut self, index: ModuleIndex, found: Referenced) {
        let module = self.graph.module(index);
        let config = &module.config;
        match &found.target {
            Reference::Resource(address) => {
                if let Some(at) = config.resources.get_index_of(address) {
                    self.found.push((index, narrow(at), path_of(&found.rest)));
                }
            }
            Reference::Local(name) => {
                if let Some(at) = config.locals.get_index_of(name) {
                    self.visit(index, module.local(at));
                }
            }
            Reference::Variable(name) => {
                if let Some(at) = config.variables.get_index_of(name) {
                    self.visit(index, module.variable(at));
                }
            }
            Reference::Module(name) => self.call(index, name, &found.rest),
            _ => {}
        }
    }

    fn call(&mut self, index: ModuleIndex, name: &str, rest: &[Step]) {
        let module = self.graph.module(index);
        let Some(at) = module.config.calls.get_index_of(name) else { return };
        let Some(child) = module.children.get(at).copied().flatten() else { return };
        let called = self.graph.module(child);
        let one = match rest.first() {
            Some(Step::Attribute { name, .. }) => called.config.outputs.get_index_of(name).map(|at| at..at + 1),
            _ => None,
        };
        for output in one.unwrap_or(0..called.config.outputs.len()) {
            self.visit(child, called.output(output));
        }
    }
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
