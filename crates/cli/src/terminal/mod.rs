//! Terminal input and output: streams, colors, wrapping, prompts and interrupts.

mod interrupt;
mod palette;
mod prompt;
mod safe_text;
mod streams;
mod wrap;

pub use interrupt::Interrupts;
pub use palette::{Palette, Tone};
pub use prompt::{Answer, Hidden, Prompter};
pub use safe_text::{SafeWriter, printable, printable_line};
pub use streams::{Colors, Device, Overlay, PIPE_COLUMNS, Shared, Streams, WriteFailure};
pub use wrap::{NARROWEST, word_wrap, wrap_line};
