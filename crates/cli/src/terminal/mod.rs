//! Terminal input and output: streams, colors, wrapping, prompts and interrupts.

mod hidden;
mod interrupt;
mod output;
mod palette;
mod prompt;
mod safe_text;
mod streams;
mod wrap;

pub use hidden::Hidden;
pub use interrupt::Interrupts;
pub use output::WriteFailure;
pub use palette::{Palette, Tone};
pub use prompt::{Answer, Prompter};
pub use safe_text::{SafeWriter, printable, printable_line};
pub use streams::{Colors, Device, Overlay, PIPE_COLUMNS, Shared, Streams};
pub use wrap::{NARROWEST, word_wrap, wrap_line};
