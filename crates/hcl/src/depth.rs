//! Limits of nesting, and the stack that deep trees need.
//!
//! The limits are far above what people and generators write. They bound memory and time for texts that nobody means,
//! and keep code that walks a tree from overflowing the stack.

use crate::ast::Expression;

/// The deepest nesting of brackets, unary operators, templates and template directives, in both syntaxes.
pub const MAX_NESTING: u32 = 10_000;

/// The deepest nesting of operations. `a + b + c` nests too, without brackets.
pub const MAX_OPERATIONS: u32 = 20_000;

/// The deepest nesting of blocks, and of splats in splats. No schema has so many levels.
pub const MAX_BLOCKS: u32 = 500;

/// The stack that must be left before a walk goes one level deeper.
const RED_ZONE: usize = 256 << 10;

/// The size of a further piece of stack.
const STACK_PIECE: usize = 4 << 20;

/// Runs one level of a walk through a tree, on a new piece of stack where little is left.
///
/// A function that calls itself for the parts of an expression goes through here, because the depth of a tree depends on
/// its author.
pub fn with_stack<T>(level: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE, STACK_PIECE, level)
}

/// The number of tree levels that are freed in one recursion.
const FREED_LEVELS: u32 = 256;

/// Keeps what is at every 256th level of a tree in memory for as long as the process runs.
///
/// Freeing a tree takes one call for each of its levels, and those cannot go through [`with_stack`]. Only trees that are
/// deeper than this many levels are affected.
pub(crate) fn keep_at_level(level: u32, expression: &Expression) {
    if ends_freed_levels(level) {
        std::mem::forget(expression.clone());
    }
}

/// Whether freeing must stop at this level.
pub(crate) const fn ends_freed_levels(level: u32) -> bool {
    level > 0 && level.is_multiple_of(FREED_LEVELS)
}
