//! Colors of terminal output.

use std::fmt::{self, Display, Formatter};

/// The style of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Deletions and errors.
    Red,
    /// Creations and success.
    Green,
    /// Changes and warnings.
    Yellow,
    /// Reads and notes.
    Cyan,
    /// Things of less weight.
    Gray,
    /// Headings without color.
    Bold,
    /// Headings of successful results.
    BoldGreen,
    /// Headings of failed results.
    BoldRed,
    /// Headings of warnings, bold.
    BoldYellow,
    /// Headings of notes, bold.
    BoldCyan,
    /// The text at fault.
    Underline,
}

/// Every sequence that a palette writes: no other one reaches a terminal.
pub(super) const SEQUENCES: [&str; 8] =
    ["\x1b[0m", "\x1b[1m", "\x1b[4m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m", "\x1b[90m"];

/// Whether text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Palette {
    /// Bare text: a pipe, `-no-color`, `NO_COLOR`.
    Plain,
    /// Escape sequences of the ANSI terminals.
    Ansi,
}

impl Palette {
    /// The sequence that begins `tone`; nothing without colours.
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

    /// The sequence that ends every tone; nothing without colours.
    pub fn close(self) -> &'static str {
        if self == Self::Plain { "" } else { "\x1b[0m" }
    }

    /// `text` in `tone`.
    pub fn paint<T: Display>(self, tone: Tone, text: T) -> Painted<T> {
        Painted { palette: self, tone, text }
    }
}

/// A text with its tone, for formatting.
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
    fn every_sequence_is_listed() {
        use Tone::{Bold, BoldCyan, BoldGreen, BoldRed, BoldYellow, Cyan, Gray, Green, Red, Underline, Yellow};
        let tones = [Red, Green, Yellow, Cyan, Gray, Bold, BoldGreen, BoldRed, BoldYellow, BoldCyan, Underline];
        for written in tones.map(|tone| Palette::Ansi.open(tone)).into_iter().chain([Palette::Ansi.close()]) {
            for sequence in written.split_inclusive('m') {
                assert!(SEQUENCES.contains(&sequence), "{sequence:?}");
            }
        }
    }

    #[test]
    fn plain_text_has_no_escape_sequences() {
        assert_eq!(Palette::Plain.paint(Tone::Red, "x").to_string(), "x");
        assert_eq!(Palette::Ansi.paint(Tone::Red, "x").to_string(), "\x1b[31mx\x1b[0m");
    }
}
