//! One module of the configuration: what its nodes stand for, and where each is.

use std::sync::Arc;

use groma_address::ModulePath;
use groma_config::Module;

use super::index::{ModuleIndex, NodeIndex, narrow};

/// What a node stands for. The numbers are positions in the maps of [`Module`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// An input variable.
    Variable(u32),
    /// The validation rules of a variable, where one of them looks at other objects too.
    Validation(u32),
    /// A local value.
    Local(u32),
    /// An output value.
    Output(u32),
    /// The expansion of a module call into instances; everything inside waits for it.
    Call(u32),
    /// One output of a module call, done when it is done in all instances.
    CallOutput {
        /// The call.
        call: u32,
        /// The output of the child module.
        output: u32,
    },
    /// The end of a module call: everything in all instances is done.
    CallEnd(u32),
    /// A provider configuration.
    Provider(u32),
    /// A resource with all its instances.
    Resource(u32),
    /// The assertions of a check block.
    Check(u32),
    /// An import block of the root module.
    Import(u32),
    /// An action block: what its configuration stands on.
    Action(u32),
    /// The invocations of actions that changes of a resource trigger.
    Trigger(u32),
}

/// Where a module is called.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// The calling module.
    pub module: ModuleIndex,
    /// The call in it.
    pub call: u32,
}

/// Whether the uses of what is deprecated are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deprecations {
    /// They are.
    #[default]
    Told,
    /// A call on the way to the module says that they are not (`ignore_nested_deprecations`).
    Ignored,
}

/// One module of the configuration.
#[derive(Clone, Debug)]
pub struct StaticModule {
    /// Its blocks.
    pub config: Arc<Module>,
    /// Who calls it; nobody calls the root module.
    pub caller: Option<Caller>,
    /// Whether the uses of what is deprecated are told that are in it.
    pub deprecations: Deprecations,
    /// The child module of each call; none where it could not be loaded.
    pub children: Vec<Option<ModuleIndex>>,
    /// What its nodes stand for.
    pub(super) kinds: Vec<NodeKind>,
    pub(super) layout: Layout,
}

/// Where the nodes of each kind begin.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub(super) locals: u32,
    pub(super) outputs: u32,
    pub(super) calls: u32,
    pub(super) ends: u32,
    pub(super) providers: u32,
    pub(super) resources: u32,
    pub(super) imports: u32,
    pub(super) actions: u32,
    pub(super) call_outputs: Vec<u32>,
}

impl StaticModule {
    /// Its path.
    pub fn path(&self) -> &ModulePath {
        &self.config.path
    }

    /// How many nodes it has.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// All nodes with what they stand for.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeIndex, NodeKind)> {
        self.kinds.iter().enumerate().map(|(at, kind)| (NodeIndex(narrow(at)), *kind))
    }

    /// What a node stands for.
    pub fn kind(&self, node: NodeIndex) -> NodeKind {
        self.kinds[node.at()]
    }

    /// The node of an input variable.
    pub fn variable(&self, position: usize) -> NodeIndex {
        NodeIndex(narrow(position))
    }

    /// The node of a local value.
    pub fn local(&self, position: usize) -> NodeIndex {
        NodeIndex(self.layout.locals + narrow(position))
    }

    /// The node of an output value.
    pub fn output(&self, position: usize) -> NodeIndex {
        NodeIndex(self.layout.outputs + narrow(position))
    }

    /// The node of a module call's expansion.
    pub fn call(&self, position: usize) -> NodeIndex {
        NodeIndex(self.layout.calls + narrow(position))
    }

    /// The node of a module call's end.
    pub fn call_end(&self, position: usize) -> NodeIndex {
        NodeIndex(self.layout.ends + narrow(position))
    }

    /// The node of an output of a module call.
    pub fn call_output(&self, call: usize, output: usize) -> Option<NodeIndex> {
        Some(NodeIndex(self.layout.call_outputs.get(call)? + narrow(output)))
    }

    /// The node of a provider configuration.
    pub fn provider(&self, position: usize) -> NodeIndex {
        NodeIndex(self.layout.providers + narrow(position))
    }

    /// The node of a resource.
    pub fn resource(&self, position: usize) -> NodeIndex {
        NodeIndex(self.layout.resources + narrow(position))
    }

    /// The node of an import block.
    pub fn import(&self, position: usize) -> NodeIndex {
        NodeIndex(self.layout.imports + narrow(position))
    }

    /// The node of an action block.
    pub fn action(&self, position: usize) -> NodeIndex {
        NodeIndex(self.layout.actions + narrow(position))
    }

    /// The node of what changes of a resource have invoked; none where that is nothing.
    pub fn trigger(&self, resource: u32) -> Option<NodeIndex> {
        let first = self.layout.actions as usize + self.config.actions.len();
        let triggers = self.kinds.get(first..)?;
        let at = triggers.partition_point(|kind| matches!(kind, NodeKind::Trigger(other) if *other < resource));
        (triggers.get(at) == Some(&NodeKind::Trigger(resource))).then(|| NodeIndex(narrow(first + at)))
    }
}
