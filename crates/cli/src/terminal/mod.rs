//! The terminal: colours, width, wrapped text.

mod palette;
mod wrap;

pub use palette::{Palette, Tone};
pub use wrap::{NARROWEST, word_wrap, wrap_line};

/// Columns of an output that is no terminal.
pub const PIPE_COLUMNS: usize = 78;
