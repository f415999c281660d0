//! What may stand in a body.

use crate::ast::Name;

/// What may stand in a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodySchema {
    /// The arguments.
    pub attributes: Vec<AttributeSpec>,
    /// The blocks.
    pub blocks: Vec<BlockSpec>,
    /// Names that have been read from the body before, or are read elsewhere: whoever misspells a name may have meant one of them.
    pub beside: &'static [&'static str],
}

/// An argument that may stand in a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeSpec {
    /// Its name.
    pub name: Name,
    /// Whether its absence is an error.
    pub required: bool,
}

/// A kind of block that may stand in a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSpec {
    /// The kind: `resource`.
    pub kind: Name,
    /// What its labels are: `type`, `name`. Their number is binding.
    pub labels: Vec<Name>,
    /// Whether there is no such block, but may be one day. One that stands in the body for a mistake in its braces is not read.
    pub is_reserved: bool,
}

impl BodySchema {
    /// The schema of an empty body.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, with an argument that must be there.
    #[must_use]
    pub fn required(mut self, name: impl Into<Name>) -> Self {
        self.attributes.push(AttributeSpec { name: name.into(), required: true });
        self
    }

    /// The same, with an argument that may be there.
    #[must_use]
    pub fn optional(mut self, name: impl Into<Name>) -> Self {
        self.attributes.push(AttributeSpec { name: name.into(), required: false });
        self
    }

    /// The same, with a kind of block whose labels are named `labels`.
    #[must_use]
    pub fn block(mut self, kind: impl Into<Name>, labels: &[&str]) -> Self {
        let labels = labels.iter().map(|label| Name::from(*label)).collect();
        self.blocks.push(BlockSpec { kind: kind.into(), labels, is_reserved: false });
        self
    }

    /// The same, with a kind of block without labels that is kept for later versions of the language.
    #[must_use]
    pub fn reserved(mut self, kind: impl Into<Name>) -> Self {
        self.blocks.push(BlockSpec { kind: kind.into(), labels: Vec::new(), is_reserved: true });
        self
    }

    /// The same, where whoever misspells a name may also have meant one of `names`.
    #[must_use]
    pub fn beside(mut self, names: &'static [&'static str]) -> Self {
        self.beside = names;
        self
    }
}
