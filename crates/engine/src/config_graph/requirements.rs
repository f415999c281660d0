//! Requirements between nodes of the configuration graph.

use std::collections::HashMap;

use groma_address::{ConfigResource, InstanceKey, ProviderConfig};
use groma_config::{ActionBlock, Condition, Configuration, ImportIdentity, Module, Resource};
use groma_diagnostics::Span;
use groma_hcl::{Body, Call, Expression, ExpressionKind, Step, Traversal, with_stack};
use groma_lang::{Binding, Mention, for_each_mention, instance_key};

use super::index::{NodeRef, Requirement};
use super::{ConfigGraph, ModuleIndex, NodeIndex, NodeKind, StaticModule};

/// Collects the requirements of the nodes of a module, each place of a node once.
pub(super) struct Requirements<'a> {
    configuration: &'a Configuration,
    graph: &'a ConfigGraph,
    imports: &'a Imports,
    index: ModuleIndex,
    collected: Collected,
    /// The provider configurations that functions come with which were met.
    pub(super) function_providers: Vec<ProviderConfig>,
}

/// The import blocks of the root module by the resource that they are into, but for those that would wait for it themselves: they are wrong,
/// and the rest of the configuration is checked all the same.
type Imports = HashMap<ConfigResource, Vec<usize>>;

pub(super) fn imports(root: &Module) -> Imports {
    let mut imports = Imports::new();
    for (at, import) in root.imports.iter().enumerate().filter(|(_, import)| !import.is_self_referential()) {
        imports.entry(import.to.clone()).or_default().push(at);
    }
    imports
}

impl<'a> Requirements<'a> {
    pub(super) fn new(
        configuration: &'a Configuration,
        graph: &'a ConfigGraph,
        imports: &'a Imports,
        index: ModuleIndex,
    ) -> Self {
        Self { configuration, graph, imports, index, collected: Collected::default(), function_providers: Vec::new() }
    }

    /// Drains the requirements that were collected since the last call.
    pub(super) fn take(&mut self) -> std::vec::Drain<'_, Requirement> {
        self.collected.take()
    }

    /// Collects what a node requires.
    pub(super) fn collect(&mut self, kind: NodeKind) {
        let module = self.graph.module(self.index);
        let config = &*module.config;
        match kind {
            NodeKind::Variable(at) => self.input(module, at as usize),
            NodeKind::Validation(at) => {
                if let Some((_, variable)) = config.variables.get_index(at as usize) {
                    // A rule refers to its own variable, and needs its value first.
                    self.add(NodeRef::Here(module.variable(at as usize)), None, variable.span);
                    self.conditions(module, &variable.validations);
                }
            }
            NodeKind::Local(at) => {
                if let Some((_, local)) = config.locals.get_index(at as usize) {
                    self.expression(module, &local.expression);
                }
            }
            NodeKind::Output(at) => self.output(module, at as usize),
            NodeKind::Call(at) => self.module_call(module, at as usize),
            NodeKind::CallOutput { call, .. } | NodeKind::CallEnd(call) => {
                self.add(NodeRef::Here(module.call(call as usize)), None, Span::NONE);
            }
            NodeKind::Provider(at) => {
                if let Some((_, block)) = config.providers.get_index(at as usize) {
                    self.body(module, &block.body);
                    // Which instances a provider block has is decided before any of them is configured.
                    self.option(module, block.for_each.as_ref());
                }
            }
            NodeKind::Resource(at) => {
                if let Some((_, resource)) = config.resources.get_index(at as usize) {
                    self.resource(module, resource);
                    // Actions before a change have to be known before the change is planned.
                    self.triggers(module, resource, ActionEvents::Before);
                    let provider = self.configuration.provider_config(module.path(), resource);
                    self.provider(provider.ok(), resource.header_span);
                    // The target of an import must be known before the instance is planned (PL-26).
                    self.imported(resource);
                }
            }
            NodeKind::Import(at) => self.import(module, at as usize),
            NodeKind::Action(at) => {
                if let Some((_, action)) = config.actions.get_index(at as usize) {
                    self.action(module, action);
                    let provider = self.configuration.resolve_provider_config(module.path(), &action.local_provider());
                    self.provider(provider.ok(), action.span);
                }
            }
            NodeKind::Trigger(at) => {
                if let Some((_, resource)) = config.resources.get_index(at as usize) {
                    // Actions are planned after the change that triggers them.
                    self.add(NodeRef::Here(module.resource(at as usize)), None, resource.header_span);
                    self.triggers(module, resource, ActionEvents::All);
                }
            }
            NodeKind::Check(at) => self.check(module, at as usize),
        }
    }

    fn output(&mut self, module: &StaticModule, at: usize) {
        let Some((_, output)) = module.config.outputs.get_index(at) else { return };
        self.expression(module, &output.expression);
        self.depends_on(module, &output.depends_on);
        self.conditions(module, &output.preconditions);
    }

    fn module_call(&mut self, module: &StaticModule, at: usize) {
        let Some((_, call)) = module.config.calls.get_index(at) else { return };
        for expression in [&call.count, &call.for_each, &call.enabled].into_iter().flatten() {
            self.expression(module, expression);
        }
        // Everything inside waits for the call, and so for what chooses its providers.
        for passed in &call.providers {
            self.option(module, passed.parent.key.as_ref());
        }
        self.depends_on(module, &call.depends_on);
    }

    fn import(&mut self, module: &StaticModule, at: usize) {
        let Some(import) = module.config.imports.get(at) else { return };
        let (ImportIdentity::Id(identity) | ImportIdentity::Identity(identity)) = &import.identity;
        self.keys(module, &import.to_expression);
        self.expression(module, identity);
        self.option(module, import.for_each.as_ref());
        self.option(module, import.provider.as_ref().and_then(|provider| provider.key.as_ref()));
    }

    /// A check waits for the data sources inside it too.
    fn check(&mut self, module: &StaticModule, at: usize) {
        let Some((name, check)) = module.config.checks.get_index(at) else { return };
        self.conditions(module, &check.assertions);
        for (position, resource) in module.config.resources.values().enumerate() {
            if resource.check.as_ref() == Some(name) {
                self.add(NodeRef::Here(module.resource(position)), None, resource.header_span);
            }
        }
    }

    fn add(&mut self, node_ref: NodeRef, key: Option<&InstanceKey>, span: Span) {
        self.collected.add(node_ref, key, span);
    }

    fn expression(&mut self, module: &StaticModule, expression: &Expression) {
        for_each_mention(expression, &mut |mention, _| match mention {
            Mention::Name(traversal) => self.traversal(module, traversal, NodeRef::Here),
            Mention::Function(call) => self.function(self.index, call),
            Mention::Word(..) => {}
        });
    }

    /// Adds the provider configuration that a provider-defined function needs.
    fn function(&mut self, seen_from: ModuleIndex, call: &Call) {
        let graph = self.graph;
        if let Some(block) = graph.late_function_block(seen_from, &call.name.name) {
            // The function exists only once its provider is configured.
            self.block(block.module, block.node, call.name.span);
            self.function_providers.push(block.used.config);
        }
    }

    fn option(&mut self, module: &StaticModule, expression: Option<&Expression>) {
        if let Some(expression) = expression {
            self.expression(module, expression);
        }
    }

    fn body(&mut self, module: &StaticModule, body: &Body) {
        body.for_each_expression(&mut |expression| self.expression(module, expression));
    }

    fn traversal(&mut self, module: &StaticModule, traversal: &Traversal, node_ref: fn(NodeIndex) -> NodeRef) {
        let Some(binding) = module.config.binding(traversal) else { return };
        let named = |steps: usize| {
            let last = steps.checked_sub(1).and_then(|last| traversal.steps().get(last));
            last.map_or(traversal.root.span, |last| traversal.root.span.to(last.span()))
        };
        let index = binding.index(traversal);
        let span = named(binding.steps() + usize::from(index.is_some()));
        match (binding, index.map(instance_key)) {
            (Binding::Variable(at), _) => self.add(node_ref(module.variable(at as usize)), None, span),
            (Binding::Local(at), _) => self.add(node_ref(module.local(at as usize)), None, span),
            // An index that no instance can have is reported by the checks of the configuration.
            (_, Some(None)) => {}
            (Binding::Resource(at) | Binding::PrefixedResource(at), key) => {
                self.add(node_ref(module.resource(at as usize)), key.flatten().as_ref(), span);
            }
            (Binding::Module(at), key) => {
                let rest = traversal.steps().get(binding.steps() + usize::from(index.is_some()));
                self.call(module, at as usize, (key.flatten(), rest, span), node_ref);
            }
        }
    }

    fn call(
        &mut self,
        module: &StaticModule,
        call: usize,
        (key, rest, span): (Option<InstanceKey>, Option<&Step>, Span),
        node_ref: fn(NodeIndex) -> NodeRef,
    ) {
        // The call itself, so that the instances exist before their outputs are read.
        self.add(node_ref(module.call(call)), None, span);
        let Some(child) = module.children.get(call).copied().flatten() else { return };
        let outputs = &self.graph.module(child).config.outputs;
        let one = match rest {
            Some(Step::Attribute { name, .. }) => outputs.get_index_of(name).map(|at| at..at + 1),
            Some(Step::Index { .. }) | None => None,
        };
        // A reference to the whole call needs every output.
        for output in one.unwrap_or(0..outputs.len()) {
            if let Some(node) = module.call_output(call, output) {
                self.add(node_ref(node), key.as_ref(), span);
            }
        }
    }

    fn conditions(&mut self, module: &StaticModule, conditions: &[Condition]) {
        for rule in conditions {
            self.expression(module, &rule.condition);
            // The message may contain references of its own.
            self.expression(module, &rule.error_message);
        }
    }

    fn depends_on(&mut self, module: &StaticModule, traversals: &[Traversal]) {
        for traversal in traversals {
            if let Some(node) = self.graph.depended(module, traversal) {
                self.add(NodeRef::Here(node), None, traversal.span);
            }
        }
    }

    /// Adds the references in the keys of an address: `each.key` in `aws_vpc.main[each.key]`.
    fn keys(&mut self, module: &StaticModule, address: &Expression) {
        match &address.without_parentheses().kind {
            ExpressionKind::Index(index) => {
                // Nested index expressions are as deep as the input wants.
                with_stack(|| self.keys(module, &index.source));
                self.expression(module, &index.key);
            }
            ExpressionKind::Relative(relative) => self.keys(module, &relative.source),
            _ => {}
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
            for_each_mention(&argument.expression, &mut |mention, _| match mention {
                Mention::Name(traversal) => self.traversal(calling, traversal, NodeRef::Caller),
                Mention::Function(call) => self.function(caller.module, call),
                Mention::Word(..) => {}
            });
        }
    }

    fn resource(&mut self, module: &StaticModule, resource: &Resource) {
        self.body(module, &resource.body);
        for expression in [&resource.count, &resource.for_each].into_iter().flatten() {
            self.expression(module, expression);
        }
        if let Some(search) = &resource.search {
            for expression in [&search.include_resource, &search.limit].into_iter().flatten() {
                self.expression(module, expression);
            }
        }
        self.option(module, resource.provider.as_ref().and_then(|provider| provider.key.as_ref()));
        self.depends_on(module, &resource.depends_on);
        let lifecycle = &resource.lifecycle;
        // These arguments are evaluated for each instance, so what they refer to comes first.
        let single =
            [&lifecycle.create_before_destroy, &lifecycle.prevent_destroy, &lifecycle.enabled, &lifecycle.destroy];
        for expression in single.into_iter().flatten().chain(&lifecycle.replace_triggered_by) {
            self.expression(module, expression);
        }
        self.conditions(module, &lifecycle.preconditions);
        self.conditions(module, &lifecycle.postconditions);
        for provisioner in &resource.provisioners {
            self.body(module, &provisioner.body);
            if let Some(connection) = &provisioner.connection {
                self.body(module, &connection.body);
            }
        }
        // Only a connection that a provisioner uses matters; others are never evaluated.
        if let Some(connection) = resource.used_connection() {
            self.body(module, &connection.body);
        }
    }

    /// A resource waits for the import blocks that are about it.
    fn imported(&mut self, resource: &Resource) {
        let imports = self.imports;
        if imports.is_empty() {
            return;
        }
        let address = resource.address.in_module(self.graph.module(self.index).path().clone());
        let root = self.graph.module(ConfigGraph::ROOT);
        for at in imports.get(&address).into_iter().flatten() {
            self.block(ConfigGraph::ROOT, root.import(*at), resource.header_span);
        }
    }

    fn action(&mut self, module: &StaticModule, action: &ActionBlock) {
        for expression in [&action.count, &action.for_each].into_iter().flatten() {
            self.expression(module, expression);
        }
        self.option(module, action.provider.as_ref().and_then(|provider| provider.key.as_ref()));
        if let Some(body) = &action.config {
            self.body(module, body);
        }
    }

    /// The actions that a resource triggers, and what decides whether it does.
    fn triggers(&mut self, module: &StaticModule, resource: &Resource, events: ActionEvents) {
        for trigger in &resource.lifecycle.action_triggers {
            // Actions after a change need not be known to plan the change.
            if events == ActionEvents::Before && !trigger.events.iter().any(is_before) {
                continue;
            }
            for action in &trigger.actions {
                self.keys(module, action);
                if let Some(at) = action_block(&module.config, action) {
                    self.add(NodeRef::Here(module.action(at)), None, action.span);
                }
            }
            if let Some(condition) = &trigger.condition {
                self.expression(module, condition);
            }
        }
    }

    fn provider(&mut self, provider: Option<ProviderConfig>, span: Span) {
        if let Some((owner, node)) = provider.and_then(|provider| self.graph.provider_block(&provider)) {
            self.block(owner, node, span);
        }
    }

    /// A block that is here or further up.
    fn block(&mut self, owner: ModuleIndex, node: NodeIndex, span: Span) {
        let node_ref = if owner == self.index { NodeRef::Here(node) } else { NodeRef::Above(owner, node) };
        self.add(node_ref, None, span);
    }
}

/// The events of a resource's action triggers that are considered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ActionEvents {
    Before,
    All,
}

fn is_before(event: &Expression) -> bool {
    let traversal = event.as_traversal();
    traversal.is_some_and(|traversal| traversal.root.name.starts_with("before_"))
}

/// The block that an element of `actions` names.
fn action_block(config: &Module, element: &Expression) -> Option<usize> {
    let named = match &element.kind {
        ExpressionKind::Index(index) => &index.source,
        _ => element,
    };
    let traversal = named.as_traversal()?;
    match (&*traversal.root.name, traversal.steps()) {
        ("action", [Step::Attribute { name: type_name, .. }, Step::Attribute { name, .. }, ..]) => {
            config.actions.get_index_of(&(type_name.clone(), name.clone()))
        }
        _ => None,
    }
}

/// Up to this many requirements, looking at each of them is the quickest.
const FEW: usize = 16;

/// Requirements in the order in which they are met.
#[derive(Default)]
pub(super) struct Collected {
    found: Vec<Requirement>,
    /// The index of each target in `found`, once there are many.
    positions: HashMap<NodeRef, usize>,
}

impl Collected {
    /// Drains the requirements that were collected since the last call.
    pub(super) fn take(&mut self) -> std::vec::Drain<'_, Requirement> {
        self.positions.clear();
        self.found.drain(..)
    }

    /// Adds a place. One that is met with other keys matters as a whole.
    pub(super) fn add(&mut self, node_ref: NodeRef, key: Option<&InstanceKey>, span: Span) {
        let known = match self.found.len() {
            ..FEW => self.found.iter().position(|known| known.node_ref == node_ref),
            // A hash map pays off only for nodes with many references.
            _ => self.position(node_ref),
        };
        match known {
            Some(at) => {
                let known = &mut self.found[at];
                if known.key.as_deref() != key {
                    // Two different keys, or a key and a reference to the whole: all instances matter.
                    known.key = None;
                }
            }
            None => self.found.push(Requirement { node_ref, key: key.cloned().map(Box::new), span }),
        }
    }

    fn position(&mut self, node_ref: NodeRef) -> Option<usize> {
        let noted = self.positions.len();
        // The positions are filled when they are first needed, which most nodes never do.
        let later = self.found.iter().enumerate().skip(noted);
        self.positions.extend(later.map(|(at, known)| (known.node_ref, at)));
        self.positions.get(&node_ref).copied()
    }
}
