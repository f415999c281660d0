//! What a difference consists of.

use groma_value::{Name, Value};

/// What happens to one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing.
    None,
    /// It comes into being.
    Create,
    /// It goes.
    Delete,
    /// It changes.
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
    /// What happens.
    pub change: Change,
    /// Whether it forces the replacement of the object.
    pub forces_replacement: bool,
    /// What is to be shown.
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

/// What a difference shows.
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
    /// A set.
    Set(Vec<Difference>, Style),
    /// A block.
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

/// When a value is secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secrecy {
    /// Whether it was.
    pub before: bool,
    /// Whether it will be.
    pub after: bool,
    /// What happens to the secret value itself.
    pub inner: Change,
}

/// The difference of a block.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Attributes, sorted.
    pub attributes: Vec<(Name, Difference)>,
    /// Kinds of nested blocks, sorted.
    pub groups: Vec<(Name, Group)>,
}

/// Nested blocks of one kind.
#[derive(Clone, Debug)]
pub struct Group {
    /// The blocks, with their keys where the nesting has keys.
    pub blocks: Vec<(Option<Name>, Difference)>,
    /// Whether the remark of a forced replacement stands at every one of them.
    pub forces_replacement: bool,
    /// Whether they are secret as a whole; `inner` is not used.
    pub secrecy: Option<Secrecy>,
    /// Whether the nesting is a set.
    pub is_set: bool,
}
