//! `moved`, `removed` and `import` blocks.

mod import;
mod moved;
mod removed;

pub(super) use import::import;
pub(super) use moved::moved;
pub(super) use removed::removed;
