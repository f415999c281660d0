//! What the edges of the graph lead to.

use groma_address::InstanceKey;
use groma_diagnostics::Span;

use super::index::{ModuleIndex, NodeIndex};

/// Where a requirement is.
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
    /// What.
    pub place: Place,
    /// The only instance of it that matters, where every mention names the same one literally. Boxed because it is rare.
    pub key: Option<Box<InstanceKey>>,
    /// Where it is mentioned first.
    pub span: Span,
}

/// Something that waits for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dependent {
    /// In the same module instance.
    Here(NodeIndex),
    /// A variable in every instance of a child module.
    Input {
        /// The call.
        call: u32,
        /// The variable's node in the child.
        node: NodeIndex,
    },
    /// A resource in every instance of a module further down: a user of a provider configuration.
    Below(ModuleIndex, NodeIndex),
}
