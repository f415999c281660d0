//! The legend of symbols and the count of planned actions.

use std::io::{self, Write};

use groma_engine::{Action, ResourceChange};

use super::resource::symbol;
use crate::terminal::{Palette, Tone};

/// Number of planned changes by action.
#[derive(Debug, Default)]
pub(super) struct Summary {
    import: usize,
    create: usize,
    update: usize,
    delete: usize,
    delete_then_create: usize,
    create_then_delete: usize,
    read: usize,
    forget: usize,
    forget_then_create: usize,
}

impl Summary {
    pub fn of(changes: &[&ResourceChange]) -> Self {
        let mut summary = Self::default();
        for change in changes {
            summary.import += usize::from(change.importing.is_some());
            match change.action {
                Action::NoOp => {}
                Action::Create => summary.create += 1,
                Action::Read => summary.read += 1,
                Action::Update => summary.update += 1,
                Action::Delete => summary.delete += 1,
                Action::DeleteThenCreate => summary.delete_then_create += 1,
                Action::CreateThenDelete => summary.create_then_delete += 1,
                Action::Forget => summary.forget += 1,
                Action::ForgetThenCreate => summary.forget_then_create += 1,
            }
        }
        summary
    }

    /// Whether any object is changed or read.
    pub fn has_actions(&self) -> bool {
        let replaced = self.delete_then_create + self.create_then_delete + self.forget_then_create;
        self.create + self.update + self.delete + replaced + self.read + self.forget > 0
    }

    /// Writes the meanings of the symbols in the plan.
    pub fn write_legend(&self, palette: Palette, out: &mut dyn Write) -> io::Result<()> {
        let lines = [
            (self.create, Action::Create, "create"),
            (self.update, Action::Update, "update in-place"),
            (self.delete, Action::Delete, "destroy"),
            (self.delete_then_create, Action::DeleteThenCreate, "destroy and then create replacement"),
            (self.create_then_delete, Action::CreateThenDelete, "create replacement and then destroy"),
            (self.forget_then_create, Action::ForgetThenCreate, "create replacement and leave the old object"),
            (self.read, Action::Read, "read (data resources)"),
        ];
        for (count, action, meaning) in lines {
            if count > 0 {
                writeln!(out, "{} {meaning}", symbol(action, palette))?;
            }
        }
        Ok(())
    }

    /// Writes the summary line; `invoked` is the number of action invocations.
    pub fn write_counts(&self, invoked: usize, palette: Palette, out: &mut dyn Write) -> io::Result<()> {
        let replaced = self.delete_then_create + self.create_then_delete;
        let import = if self.import > 0 { format!("{} to import, ", self.import) } else { String::new() };
        let actions = if invoked > 0 { format!(" Actions: {invoked} to invoke.") } else { String::new() };
        writeln!(
            out,
            "\n{} {import}{} to add, {} to change, {} to destroy.{actions}",
            palette.paint(Tone::Bold, "Plan:"),
            // A replacement counts as one added and one destroyed object.
            self.create + replaced + self.forget_then_create,
            self.update,
            self.delete + replaced
        )
    }
}
