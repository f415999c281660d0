//! Building the configuration graph.

use std::collections::HashMap;
use std::sync::Arc;

use groma_address::{ConfigResource, InstanceKey};
use groma_config::{Condition, Configuration, ImportIdentity, Module, Resource};
use groma_diagnostics::{Diagnostics, Span};
use groma_hcl::{Step, Traversal};
use groma_lang::{Reference, Referenced};

use super::references::traversal_references;
use super::{
    Caller, ConfigGraph, Dependent, Layout, ModuleIndex, NodeIndex, NodeKind, Place, Requirement, StaticModule,
    StaticNode, body_references, cycle, expression_references, key_references, narrow,
};

/// Builds the graph of a configuration.
///
/// References to what does not exist make no edge: they are reported by the checks of the configuration. A cycle is an
/// error here.
pub fn build(configuration: &Configuration) -> (ConfigGraph, Diagnostics) {
    let mut graph = ConfigGraph { modules: Vec::new(), by_path: HashMap::new() };
    place_module(&mut graph, &configuration.root, None);
    let imports = imports(&configuration.root);
    for at in 0..graph.modules.len() {
        let index = ModuleIndex(narrow(at));
        for node in 0..graph.modules[at].nodes.len() {
            let node = NodeIndex(narrow(node));
            let requires = Requirements::of(configuration, &graph, &imports, index, node);
            graph.modules[at].nodes[node.at()].requires = requires;
        }
    }
    link_dependents(&mut graph);
    let diagnostics = cycle::check(&graph);
    (graph, diagnostics)
}

/// The import blocks of the root module by the resource that they are into.
type Imports = HashMap<ConfigResource, Vec<usize>>;

fn imports(root: &Module) -> Imports {
    let mut imports = Imports::new();
    for (at, import) in root.imports.iter().enumerate() {
        imports.entry(import.to.clone()).or_default().push(at);
    }
    imports
}

fn place_module(graph: &mut ConfigGraph, config: &Arc<Module>, caller: Option<Caller>) -> ModuleIndex {
    let index = ModuleIndex(narrow(graph.modules.len()));
    graph.by_path.insert(config.path.clone(), index);
    let (nodes, layout) = lay_out(config);
    graph.modules.push(StaticModule { config: Arc::clone(config), caller, children: Vec::new(), nodes, layout });
    let mut children = Vec::with_capacity(config.calls.len());
    for (call, name) in config.calls.keys().enumerate() {
        let caller = Caller { module: index, call: narrow(call) };
        children.push(config.children.get(name).map(|child| place_module(graph, child, Some(caller))));
    }
    graph.modules[index.at()].children = children;
    index
}

fn lay_out(config: &Module) -> (Vec<StaticNode>, Layout) {
    let mut nodes = Vec::new();
    let mut layout = Layout::default();
    let mut add = |kind| {
        nodes.push(StaticNode { kind, requires: Vec::new(), dependents: Vec::new() });
        narrow(nodes.len())
    };
    let mut end = 0;
    for at in 0..config.variables.len() {
        end = add(NodeKind::Variable(narrow(at)));
    }
    layout.locals = end;
    for at in 0..config.locals.len() {
        end = add(NodeKind::Local(narrow(at)));
    }
    layout.outputs = end;
    for at in 0..config.outputs.len() {
        end = add(NodeKind::Output(narrow(at)));
    }
    layout.calls = end;
    for at in 0..config.calls.len() {
        end = add(NodeKind::Call(narrow(at)));
    }
    layout.ends = end;
    for at in 0..config.calls.len() {
        end = add(NodeKind::CallEnd(narrow(at)));
    }
    for (at, name) in config.calls.keys().enumerate() {
        layout.call_outputs.push(end);
        let outputs = config.children.get(name).map_or(0, |child| child.outputs.len());
        for output in 0..outputs {
            end = add(NodeKind::CallOutput { call: narrow(at), output: narrow(output) });
        }
    }
    layout.providers = end;
    for at in 0..config.providers.len() {
        end = add(NodeKind::Provider(narrow(at)));
    }
    layout.resources = end;
    for at in 0..config.resources.len() {
        end = add(NodeKind::Resource(narrow(at)));
    }
    layout.imports = end;
    for at in 0..config.imports.len() {
        add(NodeKind::Import(narrow(at)));
    }
    for at in 0..config.checks.len() {
        add(NodeKind::Check(narrow(at)));
    }
    for (at, variable) in config.variables.values().enumerate() {
        if variable.validations.iter().any(|rule| mentions_others(rule, &variable.name)) {
            add(NodeKind::Validation(narrow(at)));
        }
    }
    (nodes, layout)
}

/// Whether a validation rule looks at more than its own variable. Such a rule is a node of its own, because two
/// variables may look at each other.
pub(crate) fn mentions_others(rule: &Condition, own: &str) -> bool {
    let all = expression_references(&rule.condition).into_iter().chain(expression_references(&rule.error_message));
    all.into_iter().any(|found| match found.target {
        Reference::Variable(name) => *name != *own,
        Reference::Local(_) | Reference::Resource(_) | Reference::Module(_) => true,
        _ => false,
    })
}

/// Collects the requirements of one node, each place once.
struct Requirements<'a> {
    graph: &'a ConfigGraph,
    found: Vec<Requirement>,
    positions: HashMap<Place, usize>,
}

impl<'a> Requirements<'a> {
    fn of(
        configuration: &Configuration,
        graph: &'a ConfigGraph,
        imports: &Imports,
        index: ModuleIndex,
        node: NodeIndex,
    ) -> Vec<Requirement> {
        let module = graph.module(index);
        let config = &*module.config;
        let mut all = Self { graph, found: Vec::new(), positions: HashMap::new() };
        match module.node(node).kind {
            NodeKind::Variable(at) => all.input(module, at as usize),
            NodeKind::Validation(at) => {
                if let Some((_, variable)) = config.variables.get_index(at as usize) {
                    all.add(Place::Here(module.variable(at as usize)), None, variable.span);
                    all.conditions(module, &variable.validations);
                }
            }
            NodeKind::Local(at) => {
                if let Some((_, local)) = config.locals.get_index(at as usize) {
                    all.references(module, expression_references(&local.expression));
                }
            }
            NodeKind::Output(at) => {
                if let Some((_, output)) = config.outputs.get_index(at as usize) {
                    all.references(module, expression_references(&output.expression));
                    all.depends_on(module, &output.depends_on);
                    all.conditions(module, &output.preconditions);
                }
            }
            NodeKind::Call(at) => {
                if let Some((_, call)) = config.calls.get_index(at as usize) {
                    for expression in [&call.count, &call.for_each, &call.enabled].into_iter().flatten() {
                        all.references(module, expression_references(expression));
                    }
                    all.depends_on(module, &call.depends_on);
                }
            }
            NodeKind::CallOutput { call, .. } | NodeKind::CallEnd(call) => {
                all.add(Place::Here(module.call(call as usize)), None, Span::NONE);
            }
            NodeKind::Provider(at) => {
                if let Some((_, block)) = config.providers.get_index(at as usize) {
                    all.references(module, body_references(&block.body));
                }
            }
            NodeKind::Resource(at) => {
                if let Some((_, resource)) = config.resources.get_index(at as usize) {
                    all.resource(module, resource);
                    all.provider(configuration, index, resource);
                    all.imported(imports, index, resource);
                }
            }
            NodeKind::Import(at) => {
                if let Some(import) = config.imports.get(at as usize) {
                    let (ImportIdentity::Id(identity) | ImportIdentity::Identity(identity)) = &import.identity;
                    all.references(module, key_references(&import.to_expression));
                    all.references(module, expression_references(identity));
                    if let Some(for_each) = &import.for_each {
                        all.references(module, expression_references(for_each));
                    }
                }
            }
            NodeKind::Check(at) => {
                if let Some((name, check)) = config.checks.get_index(at as usize) {
                    all.conditions(module, &check.assertions);
                    for (position, resource) in config.resources.values().enumerate() {
                        if resource.check.as_ref() == Some(name) {
                            all.add(Place::Here(module.resource(position)), None, resource.header_span);
                        }
                    }
                }
            }
        }
        // A block that mentions itself is reported by the checks of the configuration.
        all.found.retain(|requirement| requirement.place != Place::Here(node));
        all.found
    }

    fn add(&mut self, place: Place, key: Option<InstanceKey>, span: Span) {
        match self.positions.get(&place) {
            Some(at) => {
                let known = &mut self.found[*at];
                if known.key != key {
                    known.key = None;
                }
            }
            None => {
                self.positions.insert(place, self.found.len());
                self.found.push(Requirement { place, key, span });
            }
        }
    }

    fn references(&mut self, module: &StaticModule, found: Vec<Referenced>) {
        for reference in found {
            self.reference(module, reference, Place::Here);
        }
    }

    fn reference(&mut self, module: &StaticModule, found: Referenced, place: fn(NodeIndex) -> Place) {
        let config = &module.config;
        match &found.target {
            Reference::Variable(name) => {
                if let Some(at) = config.variables.get_index_of(name) {
                    self.add(place(module.variable(at)), None, found.span);
                }
            }
            Reference::Local(name) => {
                if let Some(at) = config.locals.get_index_of(name) {
                    self.add(place(module.local(at)), None, found.span);
                }
            }
            Reference::Resource(address) => {
                if let Some(at) = config.resources.get_index_of(address) {
                    self.add(place(module.resource(at)), found.key, found.span);
                }
            }
            Reference::Module(name) => {
                if let Some(at) = config.calls.get_index_of(name) {
                    self.call(module, at, found, place);
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, module: &StaticModule, call: usize, found: Referenced, place: fn(NodeIndex) -> Place) {
        self.add(place(module.call(call)), None, found.span);
        let Some(child) = module.children.get(call).copied().flatten() else { return };
        let outputs = &self.graph.module(child).config.outputs;
        let one = match found.rest.first() {
            Some(Step::Attribute { name, .. }) => outputs.get_index_of(name).map(|at| at..at + 1),
            _ => None,
        };
        for output in one.unwrap_or(0..outputs.len()) {
            if let Some(node) = module.call_output(call, output) {
                self.add(place(node), found.key.clone(), found.span);
            }
        }
    }

    fn conditions(&mut self, module: &StaticModule, conditions: &[Condition]) {
        for rule in conditions {
            self.references(module, expression_references(&rule.condition));
            self.references(module, expression_references(&rule.error_message));
        }
    }

    fn depends_on(&mut self, module: &StaticModule, traversals: &[Arc<Traversal>]) {
        for found in traversal_references(traversals) {
            match &found.target {
                Reference::Module(name) => {
                    if let Some(at) = module.config.calls.get_index_of(name) {
                        self.add(Place::Here(module.call_end(at)), None, found.span);
                    }
                }
                // An entry of depends_on means the whole resource.
                _ => self.reference(module, Referenced { key: None, ..found }, Place::Here),
            }
        }
    }

    fn input(&mut self, module: &StaticModule, variable: usize) {
        let (Some(caller), Some((name, _))) = (module.caller, module.config.variables.get_index(variable)) else {
            return;
        };
        let calling = self.graph.module(caller.module);
        let Some((_, call)) = calling.config.calls.get_index(caller.call as usize) else { return };
        let (arguments, _) = call.body.attributes();
        if let Some(argument) = arguments.iter().find(|argument| argument.name.name == *name) {
            for found in expression_references(&argument.expression) {
                self.reference(calling, found, Place::Caller);
            }
        }
    }

    fn resource(&mut self, module: &StaticModule, resource: &Resource) {
        self.references(module, body_references(&resource.body));
        for expression in [&resource.count, &resource.for_each].into_iter().flatten() {
            self.references(module, expression_references(expression));
        }
        if let Some(key) = resource.provider.as_ref().and_then(|provider| provider.key.as_ref()) {
            self.references(module, expression_references(key));
        }
        self.depends_on(module, &resource.depends_on);
        let lifecycle = &resource.lifecycle;
        let single =
            [&lifecycle.create_before_destroy, &lifecycle.prevent_destroy, &lifecycle.enabled, &lifecycle.destroy];
        for expression in single.into_iter().flatten().chain(&lifecycle.replace_triggered_by) {
            self.references(module, expression_references(expression));
        }
        self.conditions(module, &lifecycle.preconditions);
        self.conditions(module, &lifecycle.postconditions);
        for provisioner in &resource.provisioners {
            self.references(module, body_references(&provisioner.body));
            if let Some(connection) = &provisioner.connection {
                self.references(module, body_references(&connection.body));
            }
        }
        if let Some(connection) = &resource.connection {
            self.references(module, body_references(&connection.body));
        }
    }

    /// A resource waits for the import blocks that are about it.
    fn imported(&mut self, imports: &Imports, index: ModuleIndex, resource: &Resource) {
        if imports.is_empty() {
            return;
        }
        let address = resource.address.in_module(self.graph.module(index).path().clone());
        let root = self.graph.module(ConfigGraph::ROOT);
        for at in imports.get(&address).into_iter().flatten() {
            let node = root.import(*at);
            let here = index == ConfigGraph::ROOT;
            let place = if here { Place::Here(node) } else { Place::Above(ConfigGraph::ROOT, node) };
            self.add(place, None, resource.header_span);
        }
    }

    fn provider(&mut self, configuration: &Configuration, index: ModuleIndex, resource: &Resource) {
        let module = self.graph.module(index);
        let Ok(provider) = configuration.provider_config(module.path(), resource) else { return };
        let Some(owner) = self.graph.find(&provider.module) else { return };
        let owning = self.graph.module(owner);
        let position = owning.config.providers.keys().position(|local| {
            local.alias == provider.alias && owning.config.provider_address(&local.name) == provider.provider
        });
        if let Some(position) = position {
            let node = owning.provider(position);
            let place = if owner == index { Place::Here(node) } else { Place::Above(owner, node) };
            self.add(place, None, resource.header_span);
        }
    }
}

fn link_dependents(graph: &mut ConfigGraph) {
    for at in 0..graph.modules.len() {
        let caller = graph.modules[at].caller;
        for node in 0..graph.modules[at].nodes.len() {
            let here = NodeIndex(narrow(node));
            for place in graph.modules[at].nodes[node].requires.iter().map(|found| found.place).collect::<Vec<_>>() {
                let (module, required, dependent) = match (place, caller) {
                    (Place::Here(required), _) => (at, required, Dependent::Here(here)),
                    (Place::Caller(required), Some(caller)) => {
                        (caller.module.at(), required, Dependent::Input { call: caller.call, node: here })
                    }
                    (Place::Above(module, required), _) => {
                        (module.at(), required, Dependent::Below(ModuleIndex(narrow(at)), here))
                    }
                    // Only variables of child modules look at a caller, and those have one.
                    (Place::Caller(_), None) => continue,
                };
                graph.modules[module].nodes[required.at()].dependents.push(dependent);
            }
        }
    }
}
