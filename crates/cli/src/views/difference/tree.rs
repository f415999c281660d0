//! The tree that a comparison returns and the writer renders.

use groma_value::{Name, Value};

/// Change of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The value is unchanged.
    None,
    /// The value is added.
    Create,
    /// The value is removed.
    Delete,
    /// The value is modified.
    Update,
}

impl Change {
    /// Returns the change of a value after adding a part with the change `part`.
    #[must_use]
    pub fn with_part(self, part: Self) -> Self {
        if part == Self::None || part == self { self } else { Self::Update }
    }
}

/// The difference between two values.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Change of the value.
    pub change: Change,
    /// Whether this value forces the replacement of the object.
    pub forces_replacement: bool,
    /// Content to render.
    pub content: Content,
}

/// Layout of a value with parts. It determines the placement of `-> null` and `# forces replacement`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A value without its own schema.
    Plain,
    /// A nested attribute with its own schema.
    Nested,
}

/// Content of a difference.
#[derive(Clone, Debug)]
pub enum Content {
    /// A null, bool, number or string.
    Scalar {
        /// Old value, if present.
        before: Option<Value>,
        /// New value, if present.
        after: Option<Value>,
    },
    /// An object's attributes, sorted by name.
    Object(Vec<(Name, Difference)>, Style),
    /// A map's elements, sorted by key.
    Map(Vec<(Name, Difference)>, Style),
    /// The elements of a list or tuple.
    List(Vec<Difference>, Style),
    /// The elements of a set.
    Set(Vec<Difference>, Style),
    /// A block with a schema.
    Block(Block),
    /// A value known after apply, with the old value.
    Unknown(Option<Box<Difference>>),
    /// A sensitive value.
    Sensitive(Sensitivity),
    /// A sensitive block.
    SensitiveBlock(Sensitivity),
    /// A value whose form changes: from a list to a string, for example.
    KindChange(Box<Difference>, Box<Difference>),
    /// A write-only argument.
    WriteOnly,
}

/// Sensitivity of a value before and after the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sensitivity {
    /// Whether the old value is sensitive.
    pub before: bool,
    /// Whether the new value is sensitive.
    pub after: bool,
    /// Change of the value without its marks.
    pub inner: Change,
}

/// Difference between two blocks.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Attributes, sorted by name.
    pub attributes: Vec<(Name, Difference)>,
    /// Nested blocks, sorted by type.
    pub groups: Vec<(Name, Group)>,
}

/// Nested blocks of one type.
#[derive(Clone, Debug)]
pub struct Group {
    /// Blocks, with their keys if the nesting mode is map.
    pub blocks: Vec<(Option<Name>, Difference)>,
    /// Whether every block shows that it forces replacement.
    pub forces_replacement: bool,
    /// Sensitivity of all blocks together; `inner` is not used.
    pub sensitivity: Option<Sensitivity>,
    /// Whether the nesting mode is set.
    pub is_set: bool,
}
