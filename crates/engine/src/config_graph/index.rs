//! Numbers of modules and nodes, and references to nodes as edges use them.

use groma_address::InstanceKey;
use groma_diagnostics::Span;

/// A module of the configuration, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleIndex(pub u32);

/// A node of a module, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeIndex(pub u32);

impl ModuleIndex {
    /// Returns the number as an index into slices.
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

impl NodeIndex {
    /// Returns the number as an index into slices.
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

/// A position as the number that graphs keep.
pub(crate) fn narrow(number: usize) -> u32 {
    // More than four thousand million blocks do not fit the address space of the source texts either.
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The target of a requirement, as seen from the module of the requiring node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeRef {
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
    pub node_ref: NodeRef,
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
