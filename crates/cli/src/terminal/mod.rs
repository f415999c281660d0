//! The terminal: colours, width, wrapped text.

mod hidden;
mod interrupt;
mod palette;
mod prompt;
mod streams;
mod visible;
mod wrap;

pub use hidden::Hidden;
pub use interrupt::Interrupts;
pub use palette::{Palette, Tone};
pub use prompt::{Answer, Prompter};
pub use streams::{Colors, Device, Overlay, PIPE_COLUMNS, Shared, Streams};
pub use visible::{printable, printable_line};
pub use wrap::{NARROWEST, word_wrap, wrap_line};
