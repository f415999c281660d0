//! Limits of nesting, and stack growth for deep trees.
//!
//! The limits are far above anything that people or generators write. They bound memory and time for malicious input
//! and protect recursive tree walks from stack overflow.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc;

/// The maximum nesting of brackets, unary operators, templates and template directives, in both syntaxes.
pub const MAX_NESTING: u32 = 10_000;

/// The maximum nesting of operations. `a + b + c` nests even without brackets.
pub const MAX_OPERATIONS: u32 = 20_000;

/// The maximum nesting of blocks, and of splats in splats. No provider schema has that many levels.
pub const MAX_BLOCKS: u32 = 500;

/// The remaining stack below which a new segment is allocated, in bytes.
const RED_ZONE: usize = 256 << 10;

/// The size of a new stack segment, in bytes.
const STACK_PIECE: usize = 4 << 20;

/// Runs one level of a recursive tree walk, on a new stack segment if the current one is nearly full.
///
/// Every function that recurses into expressions must go through here, because the depth of an expression is up to its
/// author.
pub fn with_stack<T>(level: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE, STACK_PIECE, level)
}

/// A pointer to syntax nodes that is dropped through [`with_stack`].
///
/// Drop glue recurses into a tree, one call per level, like any walk. Every pointer from a node to nodes below it is of
/// this type, so trees of any depth that the limits allow are freed without a stack overflow.
#[derive(Clone, PartialEq)]
pub struct Shared<P>(ManuallyDrop<P>);

impl<P> Shared<P> {
    pub(crate) const fn of(pointer: P) -> Self {
        Self(ManuallyDrop::new(pointer))
    }
}

impl<T> Shared<Arc<T>> {
    /// Moves a node into shared memory.
    pub fn new(node: T) -> Self {
        Self::of(Arc::new(node))
    }
}

impl<P> Drop for Shared<P> {
    #[allow(unsafe_code)] // a value that is moved out of `self` by safe code would need a state without it, in every use
    fn drop(&mut self) {
        // SAFETY: the pointer is dropped once, here; nothing can use `self` afterwards.
        with_stack(|| unsafe { ManuallyDrop::drop(&mut self.0) });
    }
}

impl<P: Deref> Deref for Shared<P> {
    type Target = P::Target;

    fn deref(&self) -> &P::Target {
        &self.0
    }
}

impl<P: fmt::Debug> fmt::Debug for Shared<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
