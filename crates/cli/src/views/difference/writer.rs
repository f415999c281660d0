//! The writer of differences, and the elements that all renderings share.

use std::fmt::Write as _;

use groma_diagnostics::write_quoted;

use super::tree::{Change, Content, Difference, Sensitivity};
use crate::terminal::{Palette, Tone};

/// Options for rendering a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RenderOptions {
    /// Omits `-> null` after deleted values.
    pub hides_null: bool,
    /// Shows `# forces replacement` even if the value itself does not force it.
    pub forces_replacement: bool,
    /// Shows unchanged parts.
    pub shows_unchanged: bool,
    /// Omits the column of change symbols.
    pub hides_symbols: bool,
    /// Shows the sign of a negative zero, which states and JSON documents preserve; plans do not distinguish zeros.
    pub signs_zero: bool,
}

impl RenderOptions {
    /// Returns the options for parts, which do not inherit the remark about replacement.
    pub(super) fn of_parts(self) -> Self {
        Self { forces_replacement: false, ..self }
    }

    /// Returns the options for a value, which may force a replacement itself.
    pub(super) fn around(self, difference: &Difference) -> Self {
        Self { forces_replacement: self.forces_replacement || difference.forces_replacement, ..self }
    }

    pub(super) fn showing_unchanged(self) -> Self {
        Self { shows_unchanged: true, ..self.of_parts() }
    }
}

/// Whether brackets contain anything.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    Parts,
    Nothing,
}

/// Renders [`Difference`] trees onto a string.
///
/// The writer borrows its output, so that callers can write text between differences. All lines that it writes after the first are
/// indented by the given level of four spaces, and start with a change symbol unless [`RenderOptions::hides_symbols`] is set. Sensitive
/// content is never written: it is already replaced in the tree. Strings are quoted or made printable, so that no control character
/// of a value reaches a terminal.
#[derive(Debug)]
pub struct Writer<'o> {
    pub(super) palette: Palette,
    pub(super) out: &'o mut String,
}

impl<'o> Writer<'o> {
    /// Creates a writer that appends to `out`.
    pub fn new(palette: Palette, out: &'o mut String) -> Self {
        Self { palette, out }
    }

    pub(super) fn hidden(&mut self, what: &str, count: usize, indent: usize, options: RenderOptions) {
        if count == 0 {
            return;
        }
        self.line_start(Change::None, indent, options);
        let plural = if count == 1 { "" } else { "s" };
        let _ = writeln!(
            self.out,
            "{}# ({count} unchanged {what}{plural} hidden){}",
            self.palette.open(Tone::Gray),
            self.palette.close()
        );
    }

    /// Writes the opening bracket, or both brackets if there are no parts.
    pub(super) fn begin<T>(&mut self, brackets: &str, parts: &[T], change: Change, options: RenderOptions) -> Inside {
        if parts.is_empty() {
            self.out.push_str(brackets);
            self.null_suffix(change, options);
            self.replacement_remark(options);
            return Inside::Nothing;
        }
        self.out.extend(brackets.chars().next());
        self.replacement_remark(options);
        self.out.push('\n');
        Inside::Parts
    }

    pub(super) fn end(&mut self, bracket: char, change: Change, indent: usize, options: RenderOptions) {
        self.line_start(Change::None, indent, options);
        self.out.push(bracket);
        self.null_suffix(change, options);
    }

    /// Writes the change symbol of a line that is not indented.
    pub fn symbol(&mut self, change: Change) {
        self.line_start(change, 0, RenderOptions::default());
    }

    /// Writes the indentation and the change symbol of a line.
    pub(super) fn line_start(&mut self, change: Change, indent: usize, options: RenderOptions) {
        self.indent(indent);
        if options.hides_symbols {
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

    pub(super) fn null_suffix(&mut self, change: Change, options: RenderOptions) {
        if change == Change::Delete && !options.hides_null {
            let _ = write!(self.out, " {}", self.palette.paint(Tone::Gray, "-> null"));
        }
    }

    pub(super) fn replacement_remark(&mut self, options: RenderOptions) {
        if options.forces_replacement {
            let _ = write!(self.out, " {}", self.palette.paint(Tone::Red, "# forces replacement"));
        }
    }
}

impl Writer<'_> {
    /// Writes the warning above a value whose sensitivity changes, if it does.
    pub(super) fn warning(&mut self, difference: &Difference, indent: usize) {
        match difference.content {
            Content::Sensitive(sensitivity) => self.sensitivity_warning("attribute value", sensitivity, indent),
            Content::SensitiveBlock(sensitivity) => self.sensitivity_warning("block", sensitivity, indent),
            _ => {}
        }
    }

    pub(super) fn sensitivity_warning(&mut self, what: &str, sensitivity: Sensitivity, indent: usize) {
        // Created and deleted values do not change their sensitivity.
        if sensitivity.before == sensitivity.after || matches!(sensitivity.inner, Change::Create | Change::Delete) {
            return;
        }
        let (first, second) = if sensitivity.before {
            ("will no longer be marked as sensitive", "after applying this change.")
        } else {
            ("will be marked as sensitive and will not", "display in UI output after applying this change.")
        };
        self.indent(indent);
        let _ = writeln!(self.out, "  # {}: this {what} {first}", self.palette.paint(Tone::Yellow, "Warning"));
        self.indent(indent);
        let _ = write!(self.out, "  # {second}");
        if sensitivity.inner == Change::None && what != "block" {
            self.out.push_str(" The value is unchanged.");
        }
        self.out.push('\n');
    }
}
