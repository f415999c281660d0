//! Limits of nesting, and stack growth for deep trees.
//!
//! The limits are far above anything that people or generators write. They bound memory and time for malicious input
//! and protect recursive tree walks from stack overflow.

use crate::ast::Expression;

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

/// The number of tree levels that one recursive drop frees.
const FREED_LEVELS: u32 = 256;

/// Leaks every 256th level of a deep tree, so that dropping it recurses at most 256 levels.
///
/// Drop glue takes one call per level and cannot go through [`with_stack`]. Only trees deeper than 256 levels leak.
/// deeper than this many levels are affected.
pub(crate) fn keep_at_level(level: u32, expression: &Expression) {
    if ends_freed_levels(level) {
        std::mem::forget(expression.clone());
    }
}

/// Whether a recursive drop must stop at this level.
pub(crate) const fn ends_freed_levels(level: u32) -> bool {
    level > 0 && level.is_multiple_of(FREED_LEVELS)
}
