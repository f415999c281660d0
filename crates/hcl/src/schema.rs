//! Schemas: which arguments and blocks a body may contain.

use crate::ast::Name;

/// The arguments and block types that a body may contain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodySchema {
    /// The supported arguments, in no particular order.
    pub attributes: Vec<AttributeSpec>,
    /// The supported block types.
    pub blocks: Vec<BlockSpec>,
    /// Names that are decoded elsewhere but may be the intended spelling of an unexpected name.
    pub related_names: &'static [&'static str],
}

/// An argument that a body may contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeSpec {
    /// The name, as in `name = value`.
    pub name: Name,
    /// Whether a missing argument is an error.
    pub required: bool,
}

/// A supported block type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSpec {
    /// The block type, such as `resource`.
    pub kind: Name,
    /// The names of the labels, such as `type` and `name`. A block must have exactly as many labels.
    pub labels: Vec<Name>,
    /// Whether the block type is only reserved for future language versions. After a brace mismatch it is not decoded,
    /// because it is probably a nested block of another one.
    pub is_reserved: bool,
}

impl BodySchema {
    /// Creates a schema without arguments and blocks.
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

    /// Adds a block type whose labels are named `labels`.
    #[must_use]
    pub fn block(mut self, kind: impl Into<Name>, labels: &[&str]) -> Self {
        let labels = labels.iter().map(|label| Name::from(*label)).collect();
        self.blocks.push(BlockSpec { kind: kind.into(), labels, is_reserved: false });
        self
    }

    /// Adds a block type without labels that is reserved for future versions of the language.
    #[must_use]
    pub fn reserved(mut self, kind: impl Into<Name>) -> Self {
        self.blocks.push(BlockSpec { kind: kind.into(), labels: Vec::new(), is_reserved: true });
        self
    }

    /// Sets the names that are decoded elsewhere, as additional suggestions for misspelled names.
    #[must_use]
    pub fn related_names(mut self, names: &'static [&'static str]) -> Self {
        self.related_names = names;
        self
    }
}
