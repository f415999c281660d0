//! Warnings above values whose sensitivity changes.

use std::fmt::Write as _;

use super::tree::{Change, Content, Difference, Sensitivity};
use super::writer::Writer;
use crate::terminal::Tone;

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
