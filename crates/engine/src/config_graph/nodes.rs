//! The nodes of the configuration graph: one for each named thing of each module.

use std::collections::HashMap;
use std::sync::Arc;

use groma_address::ModulePath;
use groma_config::{Condition, Module, Resource, Variable};
use groma_hcl::Traversal;
use groma_lang::{Reference, for_each_traversal, parse_reference};

use super::index::{ModuleIndex, narrow};
use super::static_module::{Caller, Deprecations, Layout, NodeKind, StaticModule};

/// All modules; callers before the modules they call.
#[derive(Debug, Default)]
pub(super) struct Modules {
    pub(super) all: Vec<StaticModule>,
    pub(super) by_path: HashMap<ModulePath, ModuleIndex>,
}

impl Modules {
    /// The module `config` and all below it.
    pub(super) fn of(config: &Arc<Module>) -> Self {
        let mut modules = Self::default();
        modules.node_ref(config, None);
        modules
    }

    fn node_ref(&mut self, config: &Arc<Module>, caller: Option<Caller>) -> ModuleIndex {
        let index = ModuleIndex(narrow(self.all.len()));
        self.by_path.insert(config.path.clone(), index);
        let (kinds, layout) = lay_out(config);
        let deprecations = caller.map(|caller| self.inside_call(caller)).unwrap_or_default();
        let children = Vec::with_capacity(config.calls.len());
        self.all.push(StaticModule { config: Arc::clone(config), caller, deprecations, children, kinds, layout });
        for (call, name) in config.calls.keys().enumerate() {
            let caller = Caller { module: index, call: narrow(call) };
            let child = config.children.get(name).map(|child| self.node_ref(child, Some(caller)));
            self.all[index.at()].children.push(child);
        }
        index
    }

    /// Whether uses of deprecated values are reported inside a called module.
    fn inside_call(&self, caller: Caller) -> Deprecations {
        let calling = &self.all[caller.module.at()];
        let call = calling.config.calls.get_index(caller.call as usize);
        if call.is_some_and(|(_, call)| call.ignore_nested_deprecations) {
            Deprecations::Ignored
        } else {
            calling.deprecations
        }
    }
}

fn lay_out(config: &Module) -> (Vec<NodeKind>, Layout) {
    let mut kinds = Vec::new();
    let mut layout = Layout::default();
    // Each of a kind; where they end.
    let mut all = |count: usize, kind: &dyn Fn(u32) -> NodeKind| {
        kinds.extend((0..narrow(count)).map(kind));
        narrow(kinds.len())
    };
    layout.locals = all(config.variables.len(), &NodeKind::Variable);
    layout.outputs = all(config.locals.len(), &NodeKind::Local);
    layout.calls = all(config.outputs.len(), &NodeKind::Output);
    layout.ends = all(config.calls.len(), &NodeKind::Call);
    let mut end = all(config.calls.len(), &NodeKind::CallEnd);
    for (at, name) in config.calls.keys().enumerate() {
        layout.call_outputs.push(end);
        let outputs = config.children.get(name).map_or(0, |child| child.outputs.len());
        end = all(outputs, &|output| NodeKind::CallOutput { call: narrow(at), output });
    }
    layout.providers = end;
    layout.resources = all(config.providers.len(), &NodeKind::Provider);
    layout.imports = all(config.resources.len(), &NodeKind::Resource);
    // Import blocks count in the root module only.
    let imports = if config.path.is_root() { config.imports.len() } else { 0 };
    layout.actions = all(imports, &NodeKind::Import);
    all(config.actions.len(), &NodeKind::Action);
    let triggering = |resource: &Resource| !resource.lifecycle.action_triggers.is_empty();
    kinds.extend(indices_where(config.resources.values(), triggering).map(NodeKind::Trigger));
    kinds.extend((0..narrow(config.checks.len())).map(NodeKind::Check));
    kinds.extend(indices_where(config.variables.values(), looks_around).map(NodeKind::Validation));
    (kinds, layout)
}

/// Returns the positions of the elements for which `counts` is true.
fn indices_where<'a, T: 'a>(
    all: impl Iterator<Item = &'a T>,
    counts: impl Fn(&T) -> bool,
) -> impl Iterator<Item = u32> {
    (0..).zip(all).filter(move |(_, item)| counts(item)).map(|(at, _)| at)
}

/// Whether a validation rule of a variable refers to anything else. Its rules are a node of their own then, because two variables may
/// refer to each other.
pub(crate) fn looks_around(variable: &Variable) -> bool {
    variable.validations.iter().any(|rule| mentions_others(rule, &variable.name))
}

fn mentions_others(rule: &Condition, own: &str) -> bool {
    let mut others = false;
    let mut look = |traversal: &Traversal| {
        others |= match parse_reference(traversal).map(|found| found.target) {
            Ok(Reference::Variable(name)) => *name != *own,
            Ok(Reference::Local(_) | Reference::Resource(_) | Reference::Module(_)) => true,
            _ => false,
        };
    };
    for_each_traversal(&rule.condition, &mut look);
    for_each_traversal(&rule.error_message, &mut look);
    others
}
