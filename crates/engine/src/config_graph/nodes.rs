//! The nodes of the configuration graph: one for each named thing of each module.

use std::collections::HashMap;
use std::sync::Arc;

use groma_address::ModulePath;
use groma_config::{Condition, Module};
use groma_hcl::Traversal;
use groma_lang::{Reference, for_each_traversal, parse_reference};

use super::{Caller, Deprecations, Layout, ModuleIndex, NodeKind, StaticModule, narrow};

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
        modules.place(config, None);
        modules
    }

    fn place(&mut self, config: &Arc<Module>, caller: Option<Caller>) -> ModuleIndex {
        let index = ModuleIndex(narrow(self.all.len()));
        self.by_path.insert(config.path.clone(), index);
        let (kinds, layout) = lay_out(config);
        let deprecations = caller.map(|caller| self.inside_call(caller)).unwrap_or_default();
        let children = Vec::with_capacity(config.calls.len());
        self.all.push(StaticModule { config: Arc::clone(config), caller, deprecations, children, kinds, layout });
        for (call, name) in config.calls.keys().enumerate() {
            let caller = Caller { module: index, call: narrow(call) };
            let child = config.children.get(name).map(|child| self.place(child, Some(caller)));
            self.all[index.at()].children.push(child);
        }
        index
    }

    /// Whether uses of what is deprecated are told inside a called module.
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
    let mut add = |kind| {
        kinds.push(kind);
        narrow(kinds.len())
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
    // Import blocks count in the root module only.
    let imports = if config.path.is_root() { config.imports.len() } else { 0 };
    for at in 0..imports {
        end = add(NodeKind::Import(narrow(at)));
    }
    layout.actions = end;
    for at in 0..config.actions.len() {
        add(NodeKind::Action(narrow(at)));
    }
    for (at, resource) in config.resources.values().enumerate() {
        if !resource.lifecycle.action_triggers.is_empty() {
            add(NodeKind::Trigger(narrow(at)));
        }
    }
    for at in 0..config.checks.len() {
        add(NodeKind::Check(narrow(at)));
    }
    for (at, variable) in config.variables.values().enumerate() {
        if variable.validations.iter().any(|rule| mentions_others(rule, &variable.name)) {
            add(NodeKind::Validation(narrow(at)));
        }
    }
    (kinds, layout)
}

/// Whether a validation rule looks at more than its own variable. Such a rule is a node of its own, because two
/// variables may look at each other.
pub(crate) fn mentions_others(rule: &Condition, own: &str) -> bool {
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
