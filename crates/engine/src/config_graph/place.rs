//! Targets of edges in the configuration graph.

use groma_address::InstanceKey;
use groma_diagnostics::Span;

use super::index::{ModuleIndex, NodeIndex};

/// The target of a requirement, as seen from the module of the requiring node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In the same module instance.
    Here(NodeIndex),
    /// In the module instance that calls this one: what an input variable's argument refers to.
    Caller(NodeIndex),
    /// In the only instance of a module further up: a provider configuration.
    Above(ModuleIndex, NodeIndex),
}

/// Something that a node needs done first.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// The required node.
    pub place: Place,
    /// The only instance of it that matters, where every mention names the same one literally. Boxed because it is rare.
    pub key: Option<Box<InstanceKey>>,
    /// The first mention in the configuration.
    pub span: Span,
}

/// Something that waits for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dependent {
    /// In the same module instance.
    Here(NodeIndex),
    /// A variable in every instance of a child module.
    Input {
        /// The position of the module call.
        call: u32,
        /// The variable's node in the child.
        node: NodeIndex,
    },
    /// A resource in every instance of a module further down: a user of a provider configuration.
    Below(ModuleIndex, NodeIndex),
}
