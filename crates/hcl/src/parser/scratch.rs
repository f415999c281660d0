//! Lists whose length is not known while they are read.
//!
//! One long-lived vector a kind holds the unfinished lists of all levels, the innermost last. A finished list is
//! allocated once, in its final size: that is a good third of the parser's time, and memory without holes.

use crate::ast::{Expression, List, ObjectItem, Step, TemplatePart};
use crate::body::{Attribute, Block, Label};

/// Unfinished lists of `T`.
pub(super) struct Stack<T> {
    list: Vec<T>,
}

/// The start of a list on the stack.
#[derive(Clone, Copy)]
pub(super) struct Mark(usize);

impl<T> Default for Stack<T> {
    fn default() -> Self {
        Self { list: Vec::new() }
    }
}

impl<T> Stack<T> {
    /// Starts a new list.
    pub(super) fn mark(&self) -> Mark {
        Mark(self.list.len())
    }

    /// Adds to the innermost list.
    pub(super) fn push(&mut self, item: T) {
        self.list.push(item);
    }

    /// The list so far.
    pub(super) fn since(&self, mark: Mark) -> &[T] {
        self.list.get(mark.0..).unwrap_or_default()
    }

    /// Ends the list, whose elements are taken out one by one.
    pub(super) fn drain(&mut self, mark: Mark) -> std::vec::Drain<'_, T> {
        self.list.drain(mark.0.min(self.list.len())..)
    }

    /// Removes and returns the list.
    pub(super) fn take(&mut self, mark: Mark) -> List<T> {
        List::new(self.drain(mark))
    }
}

/// The unfinished lists of a parser.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) steps: Stack<Step>,
    pub(super) parts: Stack<TemplatePart>,
    pub(super) expressions: Stack<Expression>,
    pub(super) object_items: Stack<ObjectItem>,
    pub(super) attributes: Stack<Attribute>,
    pub(super) blocks: Stack<Block>,
    pub(super) labels: Stack<Label>,
}
