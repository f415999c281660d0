//! `moved`, `removed` and `import` blocks.

mod address;
mod import;
mod moved;
mod removed;

pub(super) use address::Address;
pub(super) use import::import;
pub(super) use moved::moved;
pub(super) use removed::removed;
