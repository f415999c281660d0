//! The terminal: colours, width, wrapped text.

mod interrupt;
mod palette;
mod prompt;
mod streams;
mod wrap;

pub use interrupt::Interrupts;
pub use palette::{Palette, Tone};
pub use prompt::{Answer, Prompter};
pub use streams::{Colors, Device, Overlay, Shared, Streams};
pub use wrap::{NARROWEST, word_wrap, wrap_line};

/// Columns of an output that is no terminal.
pub const PIPE_COLUMNS: usize = 78;
