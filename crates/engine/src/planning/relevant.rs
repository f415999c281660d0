//! What the changes of a plan were decided on: attributes of resources that the changing blocks mention, directly or
//! through values.

use std::collections::{BTreeSet, HashSet};

use groma_address::ModulePath;
use groma_hcl::{Ident, Step, Traversal};
use groma_lang::{Reference, Referenced};
use groma_value::Path;

use super::finish::resources_of;
use super::ignore::relative_path;
use crate::config_graph::{
    ConfigGraph, ModuleIndex, NodeIndex, NodeKind, body_references, expression_references, traversal_references,
};
use crate::plan::{RelevantAttribute, ResourceChange};
use crate::world::World;

/// Works them out; each is there once, sorted.
pub(super) fn attributes(world: &World, changes: &[ResourceChange]) -> Vec<RelevantAttribute> {
    let graph = world.graph();
    let mut search = Search { graph, seen: HashSet::new(), open: Vec::new(), found: BTreeSet::new() };
    for resource in resources_of(changes) {
        if let Some(place) = graph.find_resource(&resource) {
            search.open.push(place);
        }
    }
    while let Some((module, node)) = search.open.pop() {
        search.node(module, node);
    }
    search.found.into_iter().collect()
}

struct Search<'a> {
    graph: &'a ConfigGraph,
    seen: HashSet<(ModuleIndex, NodeIndex)>,
    open: Vec<(ModuleIndex, NodeIndex)>,
    found: BTreeSet<RelevantAttribute>,
}

impl Search<'_> {
    fn node(&mut self, index: ModuleIndex, node: NodeIndex) {
        if !self.seen.insert((index, node)) {
            return;
        }
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
            Reference::Resource(address) if config.resources.contains_key(address) => {
                let resource = address.absolute(unkeyed(&config.path));
                self.found.insert(RelevantAttribute { resource, path: path_of(&found.rest) });
            }
            Reference::Local(name) => {
                if let Some(at) = config.locals.get_index_of(name) {
                    self.open.push((index, module.local(at)));
                }
            }
            Reference::Variable(name) => {
                if let Some(at) = config.variables.get_index_of(name) {
                    self.open.push((index, module.variable(at)));
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
            self.open.push((child, called.output(output)));
        }
    }
}

fn unkeyed(path: &ModulePath) -> groma_address::ModuleInstance {
    path.unkeyed()
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
