//! Schemas of bodies.

use crate::ast::Name;

/// The arguments and blocks that a body may contain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodySchema {
    /// The schemas of arguments.
    pub attributes: Vec<AttributeSpec>,
    /// The schemas of blocks.
    pub blocks: Vec<BlockSpec>,
    /// Names that were decoded from the body before, or are decoded elsewhere: candidates for suggestions.
    pub beside: &'static [&'static str],
}

/// An argument that a body may contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeSpec {
    /// The name of the argument.
    pub name: Name,
    /// Whether its absence is an error.
    pub required: bool,
}

/// A block type that a body may contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSpec {
    /// The block type, for example `resource`.
    pub kind: Name,
    /// The names of its labels: `type`, `name`. Their number is binding.
    pub labels: Vec<Name>,
    /// Whether the block type is reserved for later versions. One that is in the body because of misplaced braces is not decoded.
    pub is_reserved: bool,
}

impl BodySchema {
    /// The schema of an empty body.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a required argument.
    #[must_use]
    pub fn required(mut self, name: impl Into<Name>) -> Self {
        self.attributes.push(AttributeSpec { name: name.into(), required: true });
        self
    }

    /// Adds an optional argument.
    #[must_use]
    pub fn optional(mut self, name: impl Into<Name>) -> Self {
        self.attributes.push(AttributeSpec { name: name.into(), required: false });
        self
    }

    /// Adds a block type with these labels.
    #[must_use]
    pub fn block(mut self, kind: impl Into<Name>, labels: &[&str]) -> Self {
        let labels = labels.iter().map(|label| Name::from(*label)).collect();
        self.blocks.push(BlockSpec { kind: kind.into(), labels, is_reserved: false });
        self
    }

    /// Adds a block type without labels that is reserved for later versions of the language.
    #[must_use]
    pub fn reserved(mut self, kind: impl Into<Name>) -> Self {
        self.blocks.push(BlockSpec { kind: kind.into(), labels: Vec::new(), is_reserved: true });
        self
    }

    /// Adds `names` as candidates for suggestions.
    #[must_use]
    pub fn beside(mut self, names: &'static [&'static str]) -> Self {
        self.beside = names;
        self
    }
}
