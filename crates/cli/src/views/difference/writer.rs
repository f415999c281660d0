//! The text that differences are written onto, and the pieces that all of them share.

use std::fmt::Write as _;

use groma_diagnostics::write_quoted;

use super::tree::{Change, Difference};
use crate::terminal::{Palette, Tone};

/// Settings of the rendering of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// Deleted values do not say `-> null`.
    pub hides_null: bool,
    /// Show "forces replacement" here even if the value itself does not force one.
    pub forces_replacement: bool,
    /// Show unchanged values too.
    pub shows_unchanged: bool,
    /// No symbols, and no room for them.
    pub hides_symbols: bool,
    /// Zero has the sign that it has in the state, or in a document. Plans know one zero only.
    pub signs_zero: bool,
}

impl Manner {
    /// The manner of the parts: the remark does not reach further down.
    pub(super) fn of_parts(self) -> Self {
        Self { forces_replacement: false, ..self }
    }

    /// The manner of a value that may force a replacement itself.
    pub(super) fn around(self, difference: &Difference) -> Self {
        Self { forces_replacement: self.forces_replacement || difference.forces_replacement, ..self }
    }

    pub(super) fn showing_unchanged(self) -> Self {
        Self { shows_unchanged: true, ..self.of_parts() }
    }
}

/// Whether there is something between two brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    Parts,
    Nothing,
}

/// Appends differences to a text.
#[derive(Debug)]
pub struct Writer<'o> {
    pub(super) palette: Palette,
    pub(super) out: &'o mut String,
}

impl<'o> Writer<'o> {
    /// A writer onto the end of `out`.
    pub fn new(palette: Palette, out: &'o mut String) -> Self {
        Self { palette, out }
    }

    pub(super) fn hidden(&mut self, what: &str, count: usize, indent: usize, manner: Manner) {
        if count == 0 {
            return;
        }
        self.line_start(Change::None, indent, manner);
        let plural = if count == 1 { "" } else { "s" };
        let _ = writeln!(
            self.out,
            "{}# ({count} unchanged {what}{plural} hidden){}",
            self.palette.open(Tone::Gray),
            self.palette.close()
        );
    }

    /// Begins a bracketed list; an empty one is complete at once.
    pub(super) fn begin<T>(&mut self, brackets: &str, parts: &[T], change: Change, manner: Manner) -> Inside {
        if parts.is_empty() {
            self.out.push_str(brackets);
            self.null_suffix(change, manner);
            self.replacement_remark(manner);
            return Inside::Nothing;
        }
        self.out.extend(brackets.chars().next());
        self.replacement_remark(manner);
        self.out.push('\n');
        Inside::Parts
    }

    pub(super) fn end(&mut self, bracket: char, change: Change, indent: usize, manner: Manner) {
        self.line_start(Change::None, indent, manner);
        self.out.push(bracket);
        self.null_suffix(change, manner);
    }

    /// Writes the symbol of a line that is not indented, with the room for it.
    pub fn symbol(&mut self, change: Change) {
        self.line_start(change, 0, Manner::default());
    }

    /// The indent and the symbol of a line.
    pub(super) fn line_start(&mut self, change: Change, indent: usize, manner: Manner) {
        self.indent(indent);
        if manner.hides_symbols {
            return;
        }
        let (tone, symbol) = match change {
            Change::None => {
                self.out.push_str("    ");
                return;
            }
            Change::Create => (Tone::Green, '+'),
            Change::Delete => (Tone::Red, '-'),
            Change::Update => (Tone::Yellow, '~'),
        };
        self.out.push_str("  ");
        self.out.push_str(self.palette.open(tone));
        self.out.push(symbol);
        self.out.push_str(self.palette.close());
        self.out.push(' ');
    }

    pub(super) fn indent(&mut self, indent: usize) {
        for _ in 0..indent {
            self.out.push_str("    ");
        }
    }

    pub(super) fn null(&mut self) {
        let _ = write!(self.out, "{}", self.palette.paint(Tone::Gray, "null"));
    }

    pub(super) fn arrow(&mut self) {
        let _ = write!(self.out, " {} ", self.palette.paint(Tone::Yellow, "->"));
    }

    pub(super) fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    pub(super) fn quoted(&mut self, text: &str) {
        // Writing into a string cannot fail.
        let _ = write_quoted(text, self.out);
    }

    pub(super) fn null_suffix(&mut self, change: Change, manner: Manner) {
        if change == Change::Delete && !manner.hides_null {
            let _ = write!(self.out, " {}", self.palette.paint(Tone::Gray, "-> null"));
        }
    }

    pub(super) fn replacement_remark(&mut self, manner: Manner) {
        if manner.forces_replacement {
            let _ = write!(self.out, " {}", self.palette.paint(Tone::Red, "# forces replacement"));
        }
    }
}
