//! Adding marks to values and removing them.

use super::repr::{Marked, Repr, Value};
use crate::marks::Marks;
use crate::path::{Path, PathMarks, PathStep};
use std::collections::HashMap;
use std::sync::Arc;

impl Value {
    /// The marks of the value itself, without those of nested values.
    pub fn marks(&self) -> &Marks {
        const NONE: &Marks = &Marks::NONE;
        match &self.0 {
            Repr::Marked(marked) => &marked.marks,
            _ => NONE,
        }
    }

    /// Returns the value with these marks added.
    #[must_use]
    pub fn with_marks(self, marks: &Marks) -> Value {
        if marks.is_empty() {
            return self;
        }
        let (value, marks) = match self.0 {
            Repr::Marked(marked) if marked.marks.contains(marks) => return Value(Repr::Marked(marked)),
            Repr::Marked(marked) => (marked.value.clone(), marked.marks.union(marks)),
            repr => (Value(repr), marks.clone()),
        };
        Value(Repr::Marked(Arc::new(Marked { value, marks })))
    }

    /// Returns the value without its own marks, and the marks.
    pub fn unmark(&self) -> (Value, Marks) {
        (self.bare().clone(), self.marks().clone())
    }

    /// Returns the value without any marks, and the removed marks with their paths.
    pub fn unmark_deep(&self) -> (Value, PathMarks) {
        if !self.has_marks() {
            return (self.clone(), PathMarks::new());
        }
        let mut found = PathMarks::new();
        let bare = strip(self, &mut Path::root(), &mut found);
        (bare, found)
    }

    /// Returns the value without its own deprecations; nested values keep theirs.
    #[must_use]
    pub fn without_own_deprecations(self) -> Value {
        if !self.marks().is_deprecated() {
            return self;
        }
        let (bare, marks) = self.unmark();
        bare.with_marks(&marks.without_deprecations())
    }

    /// Returns the value without deprecations at any level.
    #[must_use]
    pub fn without_deprecations(self) -> Value {
        if !self.deep_marks().is_deprecated() {
            return self;
        }
        let (bare, marks) = self.unmark_deep();
        bare.mark_paths(&marks.into_iter().map(|(path, marks)| (path, marks.without_deprecations())).collect())
    }

    /// Returns all marks of the value and of nested values.
    pub fn deep_marks(&self) -> Marks {
        let mut all = Marks::NONE;
        collect(self, &mut all);
        all
    }

    /// Adds marks at paths. A path that does not exist, or leads into a null, an unknown value or a set, marks the
    /// closest existing parent instead, so that no mark is ever lost.
    #[must_use]
    pub fn mark_paths(&self, marks: &PathMarks) -> Value {
        if marks.is_empty() {
            return self.clone();
        }
        let rest: Vec<(&[PathStep], &Marks)> = marks.iter().map(|(path, marks)| (path.steps(), marks)).collect();
        mark_rest(self, &rest)
    }
}

fn collect(value: &Value, all: &mut Marks) {
    if !value.has_marks() {
        return;
    }
    *all = all.union(value.marks());
    value.children(|_, child| collect(child, all));
}

fn strip(value: &Value, path: &mut Path, found: &mut PathMarks) -> Value {
    if !value.has_marks() {
        return value.clone();
    }
    if !value.marks().is_empty() {
        found.push((path.clone(), value.marks().clone()));
    }
    value.bare().map_children(|step, child| {
        if !child.has_marks() {
            return child.clone();
        }
        path.push(step());
        let child = strip(child, path, found);
        path.pop();
        child
    })
}

fn mark_rest(value: &Value, rest: &[(&[PathStep], &Marks)]) -> Value {
    let own: Marks = rest.iter().filter(|(steps, _)| steps.is_empty()).map(|(_, marks)| (*marks).clone()).collect();
    let mut below: HashMap<&PathStep, Vec<(&[PathStep], &Marks)>> = HashMap::new();
    for (steps, marks) in rest {
        if let Some((first, steps)) = steps.split_first() {
            below.entry(first).or_default().push((steps, marks));
        }
    }
    if below.is_empty() {
        return value.clone().with_marks(&own);
    }
    let inherited = value.marks().union(&own);
    let bare = value.bare();
    let marked = if bare.is_set() {
        bare.clone()
    } else {
        bare.map_children(|step, child| match below.remove(&step()) {
            Some(rest) => mark_rest(child, &rest),
            None => child.clone(),
        })
    };
    let unmatched: Marks = below.into_values().flatten().map(|(_, marks)| marks.clone()).collect();
    marked.with_marks(&inherited.union(&unmatched))
}
