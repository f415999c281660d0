//! Pairs of values to compare, with the paths that matter below them.

use groma_value::{Kind, PathStep, Value};

use super::align::same;
use super::tree::Change;

/// Paths relative to the current value.
#[derive(Clone, Debug, Default)]
pub struct Paths<'a>(Vec<&'a [PathStep]>);

impl<'a> Paths<'a> {
    /// Creates a set of paths from the root value.
    pub fn new(paths: impl IntoIterator<Item = &'a [PathStep]>) -> Self {
        Self(paths.into_iter().collect())
    }

    /// Whether the set contains no paths.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a path ends at the current value.
    pub fn end_here(&self) -> bool {
        self.0.iter().any(|rest| rest.is_empty())
    }

    fn attribute(&self, name: &str) -> Self {
        self.step(|step| match step {
            PathStep::Attribute(attribute) => **attribute == *name,
            // Map elements are addressed by index steps with a string key.
            PathStep::Index(key) => key.as_str() == Some(name),
        })
    }

    fn position(&self, position: usize) -> Self {
        self.step(|step| match step {
            // A position that does not fit into 64 bits matches no element.
            PathStep::Index(key) => key.as_number().and_then(|number| number.to_u64()) == u64::try_from(position).ok(),
            PathStep::Attribute(_) => false,
        })
    }

    fn step(&self, matches: impl Fn(&PathStep) -> bool) -> Self {
        let below = self.0.iter().filter_map(|path| path.split_first());
        Self(below.filter(|(first, _)| matches(first)).map(|(_, rest)| rest).collect())
    }
}

/// Selection of the parts to compare.
#[derive(Clone, Debug)]
pub enum Relevance<'a> {
    /// All parts.
    All,
    /// Only the parts at or below these paths; others count as unchanged.
    Only(Paths<'a>),
}

impl Relevance<'_> {
    fn is_any(&self) -> bool {
        match self {
            Self::All => true,
            Self::Only(paths) => !paths.0.is_empty(),
        }
    }
}

/// Whether an empty string differs from null. Providers with the legacy SDK cannot distinguish them. A schema block with features
/// that this SDK lacks proves that its provider can, for the objects and maps of that block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texts {
    EmptyIsNull,
    AsWritten,
}

static NULL: Value = Value::NULL;

/// Two values to compare. `None` means absence, which differs from an explicit null.
#[derive(Clone, Debug)]
pub(super) struct Pair<'a> {
    pub before: Option<&'a Value>,
    pub after: Option<&'a Value>,
    pub replace: Paths<'a>,
    pub relevance: Relevance<'a>,
    pub texts: Texts,
}

impl<'a> Pair<'a> {
    /// Returns the pair of two strings, with empty strings replaced by null if [`Texts`] demands it.
    pub fn of_texts(mut self) -> Self {
        if self.texts == Texts::EmptyIsNull {
            let text = |value: &'a Value| if value.as_str() == Some("") { &NULL } else { value };
            self.before = self.before.map(text);
            self.after = self.after.map(text);
        }
        self
    }

    /// Returns the pair of two attributes of a typed object, for which null means absence.
    pub fn implicit(mut self) -> Self {
        self.before = self.before.filter(|value| !value.is_null());
        self.after = self.after.filter(|value| !value.is_null());
        self
    }

    /// Makes the pair unchanged unless it is relevant.
    pub fn relevant(mut self) -> Self {
        if !self.relevance.is_any() {
            // The old value on both sides renders the part as unchanged.
            self.after = self.before;
        }
        self
    }

    /// Returns the deletion of the old value.
    pub fn as_deletion(&self) -> Self {
        Self { after: None, ..self.clone() }
    }

    /// Returns the deletion of a value that becomes unknown, without remarks: the unknown value carries them.
    pub fn given_up(&self) -> Self {
        Self { after: None, replace: Paths::default(), texts: Texts::EmptyIsNull, ..self.clone() }
    }

    /// Returns the creation of the new value.
    pub fn as_creation(&self) -> Self {
        Self { before: None, ..self.clone() }
    }

    pub fn is_before_sensitive(&self) -> bool {
        self.before.is_some_and(|value| value.marks().is_sensitive())
    }

    pub fn is_after_sensitive(&self) -> bool {
        self.after.is_some_and(|value| value.marks().is_sensitive())
    }

    /// Whether both values are absent or null.
    pub fn is_nothing(&self) -> bool {
        is_nil(self.before) && is_nil(self.after)
    }

    /// Returns the change of a value without parts.
    pub fn change(&self) -> Change {
        match (self.before, self.after) {
            (None, None) => Change::None,
            (None, Some(_)) => Change::Create,
            (Some(_), None) => Change::Delete,
            (Some(before), Some(after)) => {
                // A change of sensitivity alone is also an update.
                let secret = self.is_before_sensitive() == self.is_after_sensitive();
                if secret && same(before, after) { Change::None } else { Change::Update }
            }
        }
    }

    /// Returns the change of a value with parts, without regard to the parts.
    pub fn change_of_whole(&self) -> Change {
        match (is_nil(self.before), is_nil(self.after)) {
            // A change of the value inside is counted by its parts.
            (true, true) | (false, false) => Change::None,
            (true, false) => Change::Create,
            (false, true) => Change::Delete,
        }
    }

    /// Returns the pair of attributes or map elements named `name`.
    pub fn named(&self, name: &str) -> Self {
        Self {
            before: self.before.and_then(|value| named(value, name)),
            after: self.after.and_then(|value| named(value, name)),
            texts: self.texts,
            replace: self.replace.attribute(name),
            relevance: match &self.relevance {
                Relevance::All => Relevance::All,
                // A path that ends here makes everything below relevant.
                Relevance::Only(paths) if paths.end_here() => Relevance::All,
                Relevance::Only(paths) => Relevance::Only(paths.attribute(name)),
            },
        }
    }

    /// Returns the pair of elements at two positions.
    pub fn at(&self, before: Option<usize>, after: Option<usize>) -> Self {
        // An added element has no old position; paths then refer to its new one.
        let position = before.or(after).unwrap_or_default();
        Self {
            before: before.and_then(|position| elements(self.before).get(position)),
            after: after.and_then(|position| elements(self.after).get(position)),
            // The proof of one block does not extend into lists and sets.
            texts: Texts::EmptyIsNull,
            replace: self.replace.position(position),
            relevance: match &self.relevance {
                Relevance::All => Relevance::All,
                Relevance::Only(paths) if paths.end_here() => Relevance::All,
                Relevance::Only(paths) => Relevance::Only(paths.position(position)),
            },
        }
    }

    /// Returns the pair of elements at two positions of a collection, which is relevant as a whole.
    pub fn element(&self, before: Option<usize>, after: Option<usize>) -> Self {
        // Elements move, so positions of relevant paths would name the wrong ones.
        Self { relevance: Relevance::All, ..self.at(before, after) }
    }

    pub fn elements_before(&self) -> &'a [Value] {
        elements(self.before)
    }

    pub fn elements_after(&self) -> &'a [Value] {
        elements(self.after)
    }
}

fn is_nil(value: Option<&Value>) -> bool {
    value.is_none_or(Value::is_null)
}

fn named<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value.kind() {
        Kind::Object(object) => object.get(name),
        Kind::Map(map) => map.get(name),
        _ => None,
    }
}

fn elements(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_slice).unwrap_or_default()
}
