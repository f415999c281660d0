//! Places inside a value.

use crate::Name;
use crate::marks::Marks;
use crate::value::Value;
use std::fmt;

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathStep {
    /// An attribute of an object.
    Attribute(Name),
    /// An element of a list, tuple or map by its key; of a set by the element itself.
    Index(Value),
}

/// A place inside a value, as the steps from its root.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path(Vec<PathStep>);

/// The marks of a value, by path.
pub type PathMarks = Vec<(Path, Marks)>;

impl Path {
    /// Returns the path of the whole value.
    pub const fn root() -> Path {
        Path(Vec::new())
    }

    /// The path with a step to an attribute added.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<Name>) -> Path {
        self.0.push(PathStep::Attribute(name.into()));
        self
    }

    /// The path with a step to an element added.
    #[must_use]
    pub fn index(mut self, key: impl Into<Value>) -> Path {
        self.0.push(PathStep::Index(key.into()));
        self
    }

    /// The path with a step to the element of a position added.
    #[must_use]
    pub fn position(self, position: usize) -> Path {
        self.index(Value::number(position))
    }

    /// The path with the steps of another added.
    #[must_use]
    pub fn join(mut self, rest: &Path) -> Path {
        self.0.extend_from_slice(&rest.0);
        self
    }

    /// Appends a step to the path.
    pub fn push(&mut self, step: PathStep) {
        self.0.push(step);
    }

    /// Takes the last step away.
    pub fn pop(&mut self) -> Option<PathStep> {
        self.0.pop()
    }

    /// The steps, from the root on.
    pub fn steps(&self) -> &[PathStep] {
        &self.0
    }

    /// The number of steps.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether this is the root.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this is the place of `prefix`, or inside it.
    pub fn starts_with(&self, prefix: &Path) -> bool {
        self.0.starts_with(&prefix.0)
    }

    /// The path without its last step; nothing for the root.
    pub fn parent(&self) -> Option<Path> {
        self.0.split_last().map(|(_, steps)| Path(steps.to_vec()))
    }
}

impl From<Vec<PathStep>> for Path {
    fn from(steps: Vec<PathStep>) -> Self {
        Path(steps)
    }
}

impl FromIterator<PathStep> for Path {
    fn from_iter<I: IntoIterator<Item = PathStep>>(steps: I) -> Self {
        Path(steps.into_iter().collect())
    }
}

impl fmt::Display for Path {
    /// `.a["k"][0]`; a step to a set element that is an object reads `[...]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.0 {
            match step {
                PathStep::Attribute(name) => write!(f, ".{name}")?,
                PathStep::Index(key) => {
                    if key.has_marks() {
                        f.write_str("[(sensitive value)]")?;
                    } else if let Some(number) = key.as_number() {
                        write!(f, "[{number}]")?;
                    } else if let Some(text) = key.as_str() {
                        write!(f, "[{text:?}]")?;
                    } else {
                        f.write_str("[...]")?;
                    }
                }
            }
        }
        Ok(())
    }
}
