//! Colors of text.

use std::fmt::{self, Display, Formatter};

/// Style of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Deletions and errors.
    Red,
    /// Creations and success.
    Green,
    /// Updates and warnings.
    Yellow,
    /// Reads and notes.
    Cyan,
    /// Secondary information.
    Gray,
    /// Headings without a severity.
    Bold,
    /// Headings of success messages.
    BoldGreen,
    /// Headings of errors.
    BoldRed,
    /// Headings of warning messages.
    BoldYellow,
    /// Headings of informational notes.
    BoldCyan,
    /// Source text that a diagnostic points to.
    Underline,
}

/// All escape sequences of the palette. Others are removed from terminal output.
pub(super) const SEQUENCES: [&str; 8] =
    ["\x1b[0m", "\x1b[1m", "\x1b[4m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m", "\x1b[90m"];

/// Whether text is colored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Palette {
    /// No colors: for pipes, `-no-color` and `NO_COLOR`.
    Plain,
    /// ANSI escape sequences.
    Ansi,
}

impl Palette {
    /// Returns the escape sequence that starts `tone`; empty without colors.
    pub fn open(self, tone: Tone) -> &'static str {
        if self == Self::Plain {
            return "";
        }
        match tone {
            Tone::Red => "\x1b[31m",
            Tone::Green => "\x1b[32m",
            Tone::Yellow => "\x1b[33m",
            Tone::Cyan => "\x1b[36m",
            Tone::Gray => "\x1b[90m",
            Tone::Bold => "\x1b[1m",
            Tone::BoldGreen => "\x1b[1m\x1b[32m",
            Tone::BoldRed => "\x1b[1m\x1b[31m",
            Tone::BoldYellow => "\x1b[1m\x1b[33m",
            Tone::BoldCyan => "\x1b[1m\x1b[36m",
            Tone::Underline => "\x1b[4m",
        }
    }

    /// Returns the escape sequence that ends any tone; empty without colors.
    pub fn close(self) -> &'static str {
        if self == Self::Plain { "" } else { "\x1b[0m" }
    }

    /// Returns `text` in `tone`, for formatting.
    pub fn paint<T: Display>(self, tone: Tone, text: T) -> Painted<T> {
        Painted { palette: self, tone, text }
    }
}

/// Text with its tone; `Display` writes both.
#[derive(Clone, Copy, Debug)]
pub struct Painted<T> {
    palette: Palette,
    tone: Tone,
    text: T,
}

impl<T: Display> Display for Painted<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.palette.open(self.tone), self.text, self.palette.close())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_every_escape_sequence() {
        // Every tone is listed, because the compiler does not check arrays for completeness.
        use Tone::{Bold, BoldCyan, BoldGreen, BoldRed, BoldYellow, Cyan, Gray, Green, Red, Underline, Yellow};
        let tones = [Red, Green, Yellow, Cyan, Gray, Bold, BoldGreen, BoldRed, BoldYellow, BoldCyan, Underline];
        for written in tones.map(|tone| Palette::Ansi.open(tone)).into_iter().chain([Palette::Ansi.close()]) {
            for sequence in written.split_inclusive('m') {
                assert!(SEQUENCES.contains(&sequence), "{sequence:?}");
            }
        }
    }

    #[test]
    fn plain_palette_has_no_escape_sequences() {
        assert_eq!(Palette::Plain.paint(Tone::Red, "x").to_string(), "x");
        assert_eq!(Palette::Ansi.paint(Tone::Red, "x").to_string(), "\x1b[31mx\x1b[0m");
    }
}
