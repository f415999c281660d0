//! One module of the configuration: the blocks that its nodes represent, and the node of each block.

use std::sync::Arc;

use groma_address::ModulePath;
use groma_config::Module;

use super::index::{ModuleIndex, NodeIndex, narrow};

/// The block that a node represents. The numbers are positions in the maps of [`Module`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// An input variable, by position.
    Variable(u32),
    /// The validation rules of a variable, if one of them refers to other objects.
    Validation(u32),
    /// A local value, by position.
    Local(u32),
    /// An output value, by position.
    Output(u32),
    /// The expansion of a module call into instances; everything inside waits for it.
    Call(u32),
    /// One output of a module call, done when it is done in all instances.
    CallOutput {
        /// The position of the module call.
        call: u32,
        /// The output of the child module.
        output: u32,
    },
    /// The end of a module call: everything in all instances is done.
    CallEnd(u32),
    /// A provider configuration, by position.
    Provider(u32),
    /// A resource with all its instances.
    Resource(u32),
    /// The assertions of a check block.
    Check(u32),
    /// An import block of the root module.
    Import(u32),
    /// The configuration of an action block.
    Action(u32),
    /// The invocations of actions that changes of a resource trigger.
    Trigger(u32),
}

/// The call of a module.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// The module that contains the call.
    pub module: ModuleIndex,
    /// The call in it.
    pub call: u32,
}

/// Whether uses of deprecated values are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deprecations {
    /// Uses are reported as warnings.
    #[default]
    Reported,
    /// A call on the way to the module says that they are not (`ignore_nested_deprecations`).
    Ignored,
}

/// One module of the configuration.
#[derive(Clone, Debug)]
pub struct StaticModule {
    /// The module's decoded blocks.
    pub config: Arc<Module>,
    /// The call of this module; `None` for the root module.
    pub caller: Option<Caller>,
    /// Whether uses of deprecated values in this module are reported.
    pub deprecations: Deprecations,
    /// The child module of each call; none where it could not be loaded.
    pub children: Vec<Option<ModuleIndex>>,
    /// The block of each node.
    pub(super) kinds: Vec<NodeKind>,
    pub(super) layout: Layout,
}

/// The number of the first node of each kind.
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
    /// Returns the module path, without instance keys.
    pub fn path(&self) -> &ModulePath {
        &self.config.path
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Iterates over all nodes with their kinds.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeIndex, NodeKind)> {
        self.kinds.iter().enumerate().map(|(at, kind)| (NodeIndex(narrow(at)), *kind))
    }

    /// Returns the kind of a node.
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
