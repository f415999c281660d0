//! The warnings above values whose secrecy changes.

use std::fmt::Write as _;

use super::tree::{Change, Content, Difference, Secrecy};
use super::writer::Writer;
use crate::terminal::Tone;

impl Writer<'_> {
    /// A warning above a value whose secrecy changes.
    pub(super) fn warning(&mut self, difference: &Difference, indent: usize) {
        match difference.content {
            Content::Sensitive(secrecy) => self.secrecy_warning("attribute value", secrecy, indent),
            Content::SensitiveBlock(secrecy) => self.secrecy_warning("block", secrecy, indent),
            _ => {}
        }
    }

    pub(super) fn secrecy_warning(&mut self, what: &str, secrecy: Secrecy, indent: usize) {
        if secrecy.before == secrecy.after || matches!(secrecy.inner, Change::Create | Change::Delete) {
            return;
        }
        let (first, second) = if secrecy.before {
            ("will no longer be marked as sensitive", "after applying this change.")
        } else {
            ("will be marked as sensitive and will not", "display in UI output after applying this change.")
        };
        self.indent(indent);
        let _ = writeln!(self.out, "  # {}: this {what} {first}", self.palette.paint(Tone::Yellow, "Warning"));
        self.indent(indent);
        let _ = write!(self.out, "  # {second}");
        if secrecy.inner == Change::None && what != "block" {
            self.out.push_str(" The value is unchanged.");
        }
        self.out.push('\n');
    }
}
