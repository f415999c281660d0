//! The result of a command, for people and for programs.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use groma_diagnostics::{Diagnostics, io_reason};
use serde::Serialize;

use super::context::Context;
use super::json_into::{json_file, json_twice};
use super::outcome::fail;
use crate::arguments::{Flag, JsonDocument};
use crate::views::json::write_compact;

/// The format of results.
pub(super) enum Results {
    /// Text for people.
    Text,
    /// A document for programs.
    Document,
    /// People, and programs in this file.
    Both(File),
}

impl Results {
    /// As the flags ask for.
    ///
    /// # Errors
    /// Both were asked for, or the file cannot be written.
    pub fn of(flags: &JsonDocument) -> Result<Self, Diagnostics> {
        match (flags.json.is_some_and(Flag::is_on), &flags.json_into) {
            (true, Some(_)) => Err(json_twice()),
            (true, None) => Ok(Self::Document),
            (false, Some(path)) => json_file(path).map(Self::Both),
            (false, None) => Ok(Self::Text),
        }
    }

    /// Whether people get it.
    pub fn has_text(&self) -> bool {
        !matches!(self, Self::Document)
    }

    /// Whether programs get it.
    pub fn has_document(&self) -> bool {
        !matches!(self, Self::Text)
    }

    /// Prints a result.
    pub fn tell(
        &self,
        context: &Context,
        text: impl FnOnce() -> String,
        document: impl FnOnce() -> String,
    ) -> Result<(), Diagnostics> {
        if self.has_text() {
            context.streams.print(&text());
        }
        self.tell_programs(context, document)
    }

    /// Tells a document to programs, if they get it, on one line. It is written as it is made.
    pub fn tell_document(&self, context: &Context, document: &impl Serialize) -> Result<(), Diagnostics> {
        let write = |out: &mut dyn Write| write_compact(document, out).and_then(|()| out.write_all(b"\n"));
        match self {
            Self::Text => Ok(()),
            Self::Document => {
                context.streams.print_document_with(write);
                Ok(())
            }
            Self::Both(file) => {
                let mut file = BufWriter::new(file);
                write(&mut file).and_then(|()| file.flush()).map_err(|problem| not_written(&problem))
            }
        }
    }

    /// Tells it to programs, if they get it.
    pub fn tell_programs(&self, context: &Context, document: impl FnOnce() -> String) -> Result<(), Diagnostics> {
        match self {
            Self::Text => Ok(()),
            Self::Document => {
                context.streams.print_document(&document());
                Ok(())
            }
            Self::Both(file) => {
                let mut file = file;
                file.write_all(document().as_bytes()).map_err(|problem| not_written(&problem))
            }
        }
    }
}

fn not_written(problem: &io::Error) -> Diagnostics {
    let reason = io_reason(problem);
    fail("Failed to write JSON", format!("The file of the option -json-into cannot be written: {reason}."))
}
