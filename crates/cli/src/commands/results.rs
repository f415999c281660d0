//! Output of a command's result, as text or as a JSON document, on standard output or in the file of `-json-into`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use groma_diagnostics::{Diagnostics, io_reason};
use serde::Serialize;

use super::context::Context;
use super::outcome::fail;
use crate::arguments::{Flag, JsonDocument};
use crate::views::json::write_compact;

/// Format of a result.
pub(super) enum Results {
    Text,
    /// JSON instead of text: `-json`.
    Document,
    /// Text, and JSON in a file: `-json-into`.
    Both(File),
}

impl Results {
    /// Returns the format that the flags select.
    ///
    /// # Errors
    /// Both flags are set, or the file cannot be written.
    pub fn of(flags: &JsonDocument) -> Result<Self, Diagnostics> {
        match (flags.json.is_some_and(Flag::is_on), &flags.json_into) {
            (true, Some(_)) => Err(json_twice()),
            (true, None) => Ok(Self::Document),
            (false, Some(path)) => json_file(path).map(Self::Both),
            (false, None) => Ok(Self::Text),
        }
    }

    /// Whether text is printed.
    pub fn has_text(&self) -> bool {
        !matches!(self, Self::Document)
    }

    /// Whether a JSON document is written.
    pub fn has_document(&self) -> bool {
        !matches!(self, Self::Text)
    }

    /// Prints the result as text or as a JSON document, or both.
    pub fn print(
        &self,
        context: &Context,
        text: impl FnOnce() -> String,
        document: impl FnOnce() -> String,
    ) -> Result<(), Diagnostics> {
        if self.has_text() {
            context.streams.print(&text());
        }
        self.print_json(context, document)
    }

    /// Writes the document as one line of JSON, if JSON is requested. It is serialized directly to the output, so that the document of a
    /// large state need not fit into memory as text.
    pub fn print_document(&self, context: &Context, document: &impl Serialize) -> Result<(), Diagnostics> {
        let write = |out: &mut dyn Write| write_compact(document, out).and_then(|()| out.write_all(b"\n"));
        match self {
            Self::Text => Ok(()),
            Self::Document => {
                context.streams.print_document_with(|out| write(out));
                Ok(())
            }
            Self::Both(file) => {
                // Serialization writes many small pieces.
                let mut file = BufWriter::new(file);
                write(&mut file).and_then(|()| file.flush()).map_err(|problem| not_written(&problem))
            }
        }
    }

    /// Writes the document, if JSON is requested.
    pub fn print_json(&self, context: &Context, document: impl FnOnce() -> String) -> Result<(), Diagnostics> {
        match self {
            Self::Text => Ok(()),
            Self::Document => {
                context.streams.print_document(&document());
                Ok(())
            }
            Self::Both(file) => {
                // `&File` implements Write, so the shared reference is enough.
                let mut file = file;
                file.write_all(document().as_bytes()).map_err(|problem| not_written(&problem))
            }
        }
    }
}

fn not_written(problem: &io::Error) -> Diagnostics {
    let reason = io_reason(problem);
    fail("Failed to write JSON", format!("The -json-into file cannot be written: {reason}."))
}

/// Creates the file.
///
/// # Errors
/// The file cannot be written.
pub(super) fn json_file(path: &Path) -> Result<File, Diagnostics> {
    // JSON output contains sensitive values, so only the owner may read the file.
    owned_file(path).map_err(|problem| {
        let detail = format!(
            "The -json-into file {} cannot be written: {problem}. Choose a file in an existing, writable directory.",
            path.display(),
            problem = io_reason(&problem)
        );
        fail("Invalid argument", detail)
    })
}

fn owned_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    // An existing file keeps its permissions, because `mode` only affects new files.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Returns the error for -json together with -json-into.
pub(super) fn json_twice() -> Diagnostics {
    let detail = "-json replaces text with JSON, and -json-into writes JSON to a file in addition to the text. Use only one of them.";
    fail("Invalid output format", detail)
}
