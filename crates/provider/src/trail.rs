//! Where a walk through an object is: a path that costs nothing until somebody wants to see it.

use groma_value::{Path, PathStep, Value};

use crate::Name;

/// A path as a list on the stack: each level of a walk holds its own step and borrows the rest.
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
    /// The whole object.
    pub(crate) const ROOT: Trail<'static> = Trail { outer: None, step: Step::Root };

    /// The attribute or kind of nested block `name` of it.
    pub(crate) fn attribute(&'a self, name: &'a Name) -> Self {
        Self { outer: Some(self), step: Step::Attribute(name) }
    }

    /// The element at `position` of it.
    pub(crate) fn position(&'a self, position: usize) -> Self {
        Self { outer: Some(self), step: Step::Position(position) }
    }

    /// The element with the key `key` of it.
    pub(crate) fn key(&'a self, key: &'a Name) -> Self {
        Self { outer: Some(self), step: Step::Key(key) }
    }

    /// The set element `element` of it.
    pub(crate) fn element(&'a self, element: &'a Value) -> Self {
        Self { outer: Some(self), step: Step::Element(element) }
    }

    /// The path, for keeping.
    pub(crate) fn path(&self) -> Path {
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
