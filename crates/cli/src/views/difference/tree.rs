//! The tree of differences between two values.

use groma_value::{Name, Value};

/// The change of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The value is unchanged.
    None,
    /// It comes into being.
    Create,
    /// The value is removed.
    Delete,
    /// The value is modified.
    Update,
}

impl Change {
    /// The change of a whole of which one more part changes like `part`.
    #[must_use]
    pub fn with_part(self, part: Self) -> Self {
        if part == Self::None || part == self { self } else { Self::Update }
    }
}

/// The difference between two values.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The change of the value.
    pub change: Change,
    /// Whether it forces the replacement of the object.
    pub forces_replacement: bool,
    /// The content to show.
    pub content: Content,
}

/// Whether the parts of a value have a schema of their own, which decides where `-> null` and the remark of a forced
/// replacement stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A value of a type.
    Plain,
    /// A nested attribute with a schema.
    Nested,
}

/// The content of a difference.
#[derive(Clone, Debug)]
pub enum Content {
    /// A null, truth value, number or string.
    Scalar {
        /// Before; nothing if absent.
        before: Option<Value>,
        /// After; nothing if absent.
        after: Option<Value>,
    },
    /// An object by attribute, sorted.
    Object(Vec<(Name, Difference)>, Style),
    /// A map by key, sorted.
    Map(Vec<(Name, Difference)>, Style),
    /// A list or tuple.
    List(Vec<Difference>, Style),
    /// A set with its elements.
    Set(Vec<Difference>, Style),
    /// A block with its attributes and nested blocks.
    Block(Block),
    /// A value that only apply will know, with what was before.
    Unknown(Option<Box<Difference>>),
    /// A value that must not be shown.
    Sensitive(Secrecy),
    /// A block that must not be shown.
    SensitiveBlock(Secrecy),
    /// A value of another kind than before.
    KindChange(Box<Difference>, Box<Difference>),
    /// An argument that is stored nowhere.
    WriteOnly,
}

/// The sensitivity of a value before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secrecy {
    /// Whether the prior value is sensitive.
    pub before: bool,
    /// Whether it will be.
    pub after: bool,
    /// The change of the sensitive value itself.
    pub inner: Change,
}

/// The difference of a block.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The attributes, sorted by name.
    pub attributes: Vec<(Name, Difference)>,
    /// Kinds of nested blocks, sorted.
    pub groups: Vec<(Name, Group)>,
}

/// Nested blocks of one kind.
#[derive(Clone, Debug)]
pub struct Group {
    /// The blocks, with their keys where the nesting has keys.
    pub blocks: Vec<(Option<Name>, Difference)>,
    /// Whether "forces replacement" is shown at each of them.
    pub forces_replacement: bool,
    /// Whether they are secret as a whole; `inner` is not used.
    pub secrecy: Option<Secrecy>,
    /// Whether the nesting is a set.
    pub is_set: bool,
}
