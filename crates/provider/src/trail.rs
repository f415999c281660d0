//! Paths during a walk through an object, built only when they are needed.

use groma_value::{Path, PathStep, Value};

use crate::Name;

/// A path as a linked list on the stack: each level of a walk holds its own step and borrows the outer ones.
#[derive(Clone, Copy)]
pub(crate) struct Trail<'a> {
    outer: Option<&'a Trail<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Attribute(&'a Name),
    Position(usize),
    Key(&'a Name),
    Element(&'a Value),
}

impl<'a> Trail<'a> {
    /// The path of the object itself.
    pub(crate) const ROOT: Trail<'static> = Trail { outer: None, step: Step::Root };

    /// Extends the path by an attribute or nested block type.
    pub(crate) fn attribute(&'a self, name: &'a Name) -> Self {
        Self { outer: Some(self), step: Step::Attribute(name) }
    }

    /// Extends the path by an index of a list or tuple.
    pub(crate) fn position(&'a self, position: usize) -> Self {
        Self { outer: Some(self), step: Step::Position(position) }
    }

    /// Extends the path by a key of a map.
    pub(crate) fn key(&'a self, key: &'a Name) -> Self {
        Self { outer: Some(self), step: Step::Key(key) }
    }

    /// Extends the path by an element of a set.
    pub(crate) fn element(&'a self, element: &'a Value) -> Self {
        Self { outer: Some(self), step: Step::Element(element) }
    }

    /// Builds the owned path.
    pub(crate) fn path(&self) -> Path {
        // Built only for violations, which are rare; a walk without findings allocates no paths.
        let mut steps = Vec::new();
        let mut at = Some(self);
        while let Some(trail) = at {
            match trail.step {
                Step::Root => {}
                Step::Attribute(name) => steps.push(PathStep::Attribute(name.clone())),
                Step::Position(position) => steps.push(PathStep::Index(Value::number(position as u64))),
                Step::Key(key) => steps.push(PathStep::Index(Value::from(key))),
                Step::Element(element) => steps.push(PathStep::Index(element.clone())),
            }
            at = trail.outer;
        }
        steps.reverse();
        Path::from(steps)
    }
}
