//! The numbers of modules and nodes.

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
