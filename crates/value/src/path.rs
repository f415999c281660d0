//! Paths that lead from a value to a nested one.

use crate::Name;
use crate::marks::Marks;
use crate::redaction::Redacted;
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

/// The path of a nested value, as the steps from the root.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path(Vec<PathStep>);

/// The marks inside a value, with the path of each marked part.
pub type PathMarks = Vec<(Path, Marks)>;

impl Path {
    /// The empty path, which denotes the whole value.
    pub const fn root() -> Path {
        Path(Vec::new())
    }

    /// Appends a step to an attribute.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<Name>) -> Path {
        self.0.push(PathStep::Attribute(name.into()));
        self
    }

    /// Appends a step to an element by its key.
    #[must_use]
    pub fn index(mut self, key: impl Into<Value>) -> Path {
        self.0.push(PathStep::Index(key.into()));
        self
    }

    /// Appends a step to an element by its index.
    #[must_use]
    pub fn position(self, position: usize) -> Path {
        self.index(Value::number(position))
    }

    /// Appends all steps of another path.
    #[must_use]
    pub fn join(mut self, rest: &Path) -> Path {
        self.0.extend_from_slice(&rest.0);
        self
    }

    /// Appends a step in place.
    pub fn push(&mut self, step: PathStep) {
        self.0.push(step);
    }

    /// Removes and returns the last step.
    pub fn pop(&mut self) -> Option<PathStep> {
        self.0.pop()
    }

    /// The steps, beginning at the root.
    pub fn steps(&self) -> &[PathStep] {
        &self.0
    }

    /// The number of steps; zero for the path of the whole value.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether this is the empty path.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this path is `prefix` or leads to a part of it.
    pub fn starts_with(&self, prefix: &Path) -> bool {
        self.0.starts_with(&prefix.0)
    }

    /// The path without its last step; `None` for the empty path.
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
    /// Writes `.a["k"][0]`. Keys of set elements that are not primitive read `[...]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.0 {
            match step {
                PathStep::Attribute(name) => write!(f, ".{name}")?,
                PathStep::Index(key) => {
                    // A path may outlive its run in a message, so ephemeral keys are hidden like sensitive ones.
                    if key.has_marks() {
                        write!(f, "[{}]", Redacted::Sensitive)?;
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
