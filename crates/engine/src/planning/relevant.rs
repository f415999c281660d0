//! Relevant attributes: the attributes that changed blocks and outputs refer to, directly or through other values. A normal plan
//! shows drift only of these (`relevant_attributes` in the plan JSON).

use std::collections::{HashMap, HashSet};

use groma_address::{AbsResource, InstanceKey, ModuleInstance, Name, ResourceInstance};
use groma_hcl::{Body, BodySchema, Label, Step, Traversal};
use groma_lang::{Binding, for_each_traversal, instance_key};
use groma_plan::{Action, Mode, OutputChange, RelevantAttribute, ResourceChange};
use groma_provider::{Block, Item, Nesting};
use groma_value::{Path, PathStep, Type, Value};

use super::ignore::steps_path;
use super::order::sort_by_address;
use crate::config_graph::{ConfigGraph, ModuleIndex, NodeIndex, NodeKind, narrow};
use crate::templates::Templates;
use crate::world::World;

/// Returns the relevant attributes, sorted and without repetition. Data sources that the plan removes count as changes.
pub(super) fn attributes(
    world: &World,
    templates: &Templates,
    changes: &[ResourceChange],
    outputs: &[OutputChange],
    (mode, disposal): (Mode, &[ResourceInstance]),
) -> Vec<RelevantAttribute> {
    let mut search = Search::new(world.graph(), templates);
    let mut last: Option<&ResourceChange> = None;
    for change in changes.iter().filter(|change| change.action != Action::NoOp) {
        let one = &change.address;
        // Instances of one resource follow each other.
        if last.is_some_and(|last| last.address.resource == one.resource && last.address.module == one.module) {
            continue;
        }
        last = Some(change);
        search.instance(one);
    }
    for one in disposal {
        search.instance(one);
    }
    for change in outputs.iter().filter(|change| change.action != Action::NoOp) {
        search.output(ConfigGraph::ROOT, &ModuleInstance::root(), &change.name);
    }
    // The state does not store outputs of child modules, so each counts as changed.
    let others = world.modules().filter(|(_, module)| mode != Mode::Destroy && module.caller.is_some());
    for (_, module) in others {
        let known = world.graph().module(module.of).config.outputs.keys().zip(&module.outputs);
        for (name, _) in known.filter(|(_, value)| value.as_ref().is_some_and(|value| !value.is_null())) {
            search.output(module.of, &module.address, name);
        }
    }
    // One search for all roots: most of them share their dependencies.
    search.run();
    search.end_at_dynamic_values();
    search.finish()
}

/// An instance of a module, or, where a reference names no key, the module as a whole.
type ModuleNumber = u32;

/// A node or attribute to visit.
struct Visit {
    number: ModuleNumber,
    node: NodeIndex,
    part: Part,
}

/// The relevant part of a resource: all of it, or an argument or a block, by the names of the enclosing blocks and its own.
type Part = Box<[Name]>;

/// A module instance, or module, with its visited parts.
struct VisitedModule {
    index: ModuleIndex,
    address: ModuleInstance,
    /// By node: whether it was visited as a whole, which includes all its parts.
    whole: Box<[bool]>,
}

struct Search<'a> {
    graph: &'a ConfigGraph,
    templates: &'a Templates,
    modules: Vec<VisitedModule>,
    by_address: HashMap<ModuleInstance, ModuleNumber>,
    parts: HashSet<(ModuleNumber, NodeIndex, Part)>,
    open: Vec<Visit>,
    /// By module and position in it: numbers compare faster than addresses. One can be there many times.
    found: Vec<(ModuleNumber, u32, Path)>,
}

impl<'a> Search<'a> {
    fn new(graph: &'a ConfigGraph, templates: &'a Templates) -> Self {
        Self {
            graph,
            templates,
            modules: Vec::new(),
            by_address: HashMap::new(),
            parts: HashSet::new(),
            open: Vec::new(),
            found: Vec::new(),
        }
    }

    fn number_of(&mut self, index: ModuleIndex, address: &ModuleInstance) -> ModuleNumber {
        if let Some(number) = self.by_address.get(address) {
            return *number;
        }
        let number = narrow(self.modules.len());
        // A node has one flag for each module instance, because the same attribute of two instances counts twice.
        let whole = vec![false; self.graph.module(index).len()].into();
        self.modules.push(VisitedModule { index, address: address.clone(), whole });
        self.by_address.insert(address.clone(), number);
        number
    }

    fn instance(&mut self, address: &ResourceInstance) {
        if let Some((index, node)) = self.graph.find_resource(&address.config_resource()) {
            let number = self.number_of(index, &address.module);
            self.visit(Visit { number, node, part: Part::default() });
        }
    }

    fn output(&mut self, index: ModuleIndex, module: &ModuleInstance, name: &Name) {
        let of = self.graph.module(index);
        if let Some(at) = of.config.outputs.get_index_of(name) {
            let number = self.number_of(index, module);
            self.visit(Visit { number, node: of.output(at), part: Part::default() });
        }
    }

    /// Adds a visit, unless it was made already.
    fn visit(&mut self, visit: Visit) {
        let Some(whole) = self.modules.get_mut(visit.number as usize).and_then(|at| at.whole.get_mut(visit.node.at()))
        else {
            return;
        };
        // A visited whole includes all its parts.
        let is_new = match &visit.part {
            _ if *whole => false,
            part if part.is_empty() => {
                *whole = true;
                true
            }
            part => self.parts.insert((visit.number, visit.node, part.clone())),
        };
        if is_new {
            self.open.push(visit);
        }
    }

    fn run(&mut self) {
        while let Some(Visit { number, node, part }) = self.open.pop() {
            let index = self.modules[number as usize].index;
            match self.graph.module(index).kind(node) {
                NodeKind::Variable(at) => self.argument(number, at),
                kind => mentioned(self.graph, index, kind, &part, &mut |found| self.reference(number, found)),
            }
        }
    }

    /// Drops steps inside values of dynamic type: Terraform does not distinguish them.
    fn end_at_dynamic_values(&mut self) {
        for (number, position, path) in &mut self.found {
            let index = self.modules[*number as usize].index;
            let key = path.steps().iter().take_while(|step| matches!(step, PathStep::Index(_))).count().min(1);
            let Some(PathStep::Attribute(name)) = path.steps().get(key) else { continue };
            let Some(template) = self.templates.resource(index, *position) else { continue };
            let attribute = template.schema.block.attribute(name);
            if attribute.is_some_and(|attribute| matches!(attribute.ty(), Type::Dynamic)) {
                while path.len() > key + 1 {
                    path.pop();
                }
            }
        }
    }

    /// Returns the found attributes, sorted by address and without repetition.
    fn finish(mut self) -> Vec<RelevantAttribute> {
        // Numbers compare faster than addresses, so repetitions are dropped before addresses are built.
        self.found.sort_unstable();
        self.found.dedup();
        let addressed = self.found.into_iter().filter_map(|(number, position, path)| {
            let VisitedModule { index, address: module, .. } = &self.modules[number as usize];
            let (address, _) = self.graph.module(*index).config.resources.get_index(position as usize)?;
            let resource: AbsResource = address.absolute(module.clone());
            Some(RelevantAttribute { resource, path })
        });
        let mut all: Vec<RelevantAttribute> = addressed.collect();
        sort_by_address(
            &mut all,
            |one| (&one.resource.module, &one.resource.resource),
            |one, other| one.path.cmp(&other.path),
        );
        all
    }

    /// A variable of a child module is what its call's argument mentions.
    fn argument(&mut self, number: ModuleNumber, at: u32) {
        let VisitedModule { index, address, .. } = &self.modules[number as usize];
        let module = self.graph.module(*index);
        let (Some(caller), Some(calling_address)) = (module.caller, address.parent()) else { return };
        let calling = self.graph.module(caller.module);
        let name = module.config.variables.get_index(at as usize).map(|(name, _)| name);
        let call = calling.config.calls.get_index(caller.call as usize).map(|(_, call)| call);
        let (Some(name), Some(call)) = (name, call) else { return };
        let (arguments, _) = call.body.attributes();
        if let Some(argument) = arguments.iter().find(|argument| argument.name.name == *name) {
            let number = self.number_of(caller.module, &calling_address);
            for_each_traversal(&argument.expression, &mut |found| self.reference(number, found));
        }
    }

    fn reference(&mut self, number: ModuleNumber, found: &Traversal) {
        let module = self.graph.module(self.modules[number as usize].index);
        let Some(binding) = module.config.binding(found) else { return };
        let after = binding.steps() + usize::from(binding.index(found).is_some());
        let rest = found.steps().get(after..).unwrap_or_default();
        match binding {
            Binding::Resource(at) | Binding::PrefixedResource(at) => {
                let path = steps_path(rest);
                let template = self.templates.resource(self.modules[number as usize].index, at);
                // References to parts of blocks are followed only as far as Terraform follows them.
                let part = followed(template.map(|template| &*template.schema.block), path.steps());
                let path = match binding.index(found).and_then(instance_key) {
                    Some(InstanceKey::Int(index)) => Path::root().index(Value::number(index)).join(&path),
                    Some(InstanceKey::String(key)) => Path::root().index(Value::string(key)).join(&path),
                    Some(InstanceKey::None) | None => path,
                };
                self.found.push((number, at, path));
                if let Some(part) = part {
                    self.visit(Visit { number, node: module.resource(at as usize), part });
                }
            }
            Binding::Local(at) => self.visit(Visit { number, node: module.local(at as usize), part: Part::default() }),
            Binding::Variable(at) => {
                self.visit(Visit { number, node: module.variable(at as usize), part: Part::default() })
            }
            Binding::Module(at) => {
                let key = binding.index(found).and_then(instance_key).unwrap_or(InstanceKey::None);
                self.call(number, at, key, rest.first());
            }
        }
    }

    fn call(&mut self, number: ModuleNumber, call: u32, key: InstanceKey, first: Option<&Step>) {
        let VisitedModule { index, address, .. } = &self.modules[number as usize];
        let module = self.graph.module(*index);
        let Some((name, _)) = module.config.calls.get_index(call as usize) else { return };
        let Some(child) = module.children.get(call as usize).copied().flatten() else { return };
        let called = self.graph.module(child);
        // A reference without a key, such as a splat, means the module as a whole.
        let address = address.child(name.clone(), key);
        let number = self.number_of(child, &address);
        let one = match first {
            Some(Step::Attribute { name, .. }) => called.config.outputs.get_index_of(name).map(|at| at..at + 1),
            _ => None,
        };
        // A reference to the whole call depends on all outputs.
        for output in one.unwrap_or(0..called.config.outputs.len()) {
            self.visit(Visit { number, node: called.output(output), part: Part::default() });
        }
    }
}

/// Returns the part of a resource that a reference leads to, if it is followed at all. As in Terraform, a reference to one of several
/// blocks of a type is not followed, and one to all of them counts as the whole enclosing body.
fn followed(block: Option<&Block>, steps: &[PathStep]) -> Option<Part> {
    let mut part = Vec::new();
    let (mut block, mut steps) = (block, steps);
    while let [PathStep::Attribute(name), rest @ ..] = steps {
        match block.and_then(|block| block.item(name)) {
            Some(Item::Block(nested)) if matches!(nested.nesting(), Nesting::Single | Nesting::Group) => {
                part.push(name.clone());
                (block, steps) = (Some(&**nested.block()), rest);
            }
            Some(Item::Block(_)) if rest.is_empty() => break,
            Some(Item::Block(_)) => return None,
            Some(Item::Attribute(_)) | None => {
                part.push(name.clone());
                break;
            }
        }
    }
    Some(part.into())
}

/// Calls `visit` with what a node mentions in its own module.
fn mentioned(
    graph: &ConfigGraph,
    index: ModuleIndex,
    kind: NodeKind,
    part: &[Name],
    visit: &mut dyn FnMut(&Traversal),
) {
    let config = &graph.module(index).config;
    match kind {
        NodeKind::Resource(at) => {
            if let Some((_, resource)) = config.resources.get_index(at as usize) {
                // As in Terraform, `for_each` and `count` matter only if the block mentions `each` or `count`.
                let mut repeated = |found: &Traversal| match &*found.root.name {
                    "each" => resource.for_each.iter().for_each(|over| for_each_traversal(over, visit)),
                    "count" => resource.count.iter().for_each(|number| for_each_traversal(number, visit)),
                    _ => visit(found),
                };
                part_mentions(&resource.body, part, &mut repeated);
            }
        }
        NodeKind::Local(at) => {
            if let Some((_, local)) = config.locals.get_index(at as usize) {
                for_each_traversal(&local.expression, visit);
            }
        }
        NodeKind::Output(at) => {
            if let Some((_, output)) = config.outputs.get_index(at as usize) {
                for_each_traversal(&output.expression, visit);
            }
        }
        _ => {}
    }
}

/// Visits the references in a part of a body. Content of a dynamic block also depends on its `for_each`.
fn part_mentions(body: &Body, part: &[Name], visit: &mut dyn FnMut(&Traversal)) {
    let Some((name, inner)) = part.split_first() else {
        return body.for_each_expression(&mut |expression| for_each_traversal(expression, visit));
    };
    let (arguments, _) = body.attributes();
    if let Some(argument) = arguments.iter().find(|argument| argument.name.name == *name) {
        return for_each_traversal(&argument.expression, visit);
    }
    let kinds = BodySchema::new().block(name.clone(), &[]).block("dynamic", &["kind"]);
    let (content, _, _) = body.partial_content(&kinds);
    for block in content.blocks_of(name) {
        part_mentions(&block.body, inner, visit);
    }
    let makes = |label: &Label| label.value == *name;
    for block in content.blocks_of("dynamic").filter(|block| block.labels.first().is_some_and(makes)) {
        let made = BodySchema::new().optional("for_each").block("content", &[]);
        let (made, _, _) = block.body.partial_content(&made);
        if let Some(over) = made.get("for_each") {
            for_each_traversal(&over.expression, visit);
        }
        for body in made.blocks_of("content") {
            part_mentions(&body.body, inner, visit);
        }
    }
}
