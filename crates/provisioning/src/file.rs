//! `file`: a file or a folder for another machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use groma_diagnostics::{Diagnostic, io_reason};
use groma_provider::{Attribute, Block, NestedBlock};
use groma_value::Type;

use super::Failure;
use super::arguments::Arguments;
use super::connection::Connection;
use super::runner::Runner;
use super::ssh::Session;

const SUMMARY: &str = "file provisioner error";

/// The arguments of the block.
pub(super) fn schema() -> &'static Arc<Block> {
    static SCHEMA: LazyLock<Arc<Block>> = LazyLock::new(|| {
        let attributes = [
            ("source", Attribute::optional(Type::String)),
            ("content", Attribute::optional(Type::String)),
            ("destination", Attribute::required(Type::String)),
        ];
        Arc::new(Block::new(attributes, Vec::<(&str, NestedBlock)>::new()))
    });
    &SCHEMA
}

/// Checks the arguments of the provisioner.
pub(super) fn problem(arguments: &Arguments) -> Option<Diagnostic> {
    let summary = match (arguments.has("source"), arguments.has("content")) {
        (true, true) => "Cannot set both 'source' and 'content'",
        (false, false) => "Must provide one of 'source' or 'content'",
        _ => return None,
    };
    Some(Diagnostic::error(
        summary,
        "Set either \"source\", the path of a file or directory, or \"content\", the \
     text of a file.",
    ))
}

enum What {
    Text(String),
    Path(PathBuf),
}

/// The source and destination of a copy.
pub(super) struct Copy {
    what: What,
    destination: String,
}

impl Copy {
    pub(super) fn new(arguments: &Arguments) -> Self {
        let what = match arguments.text("content") {
            Some(text) => What::Text(text),
            None => What::Path(arguments.text("source").unwrap_or_default().into()),
        };
        Self { what, destination: arguments.text("destination").unwrap_or_default() }
    }

    pub(super) fn run(&self, connection: &Connection, runner: &Runner) -> Result<(), Failure> {
        // The destination may be known only now, so validation could not refuse it.
        if self.destination.is_empty() {
            return Err(Failure::new(
                SUMMARY,
                "The argument \"destination\" is empty. Set it to a path on the \
             machine.",
            ));
        }
        let session =
            Session::open(connection, runner).map_err(|problem| Failure::new(SUMMARY, problem.to_string()))?;
        self.send(&session).map_err(|problem| {
            Failure::new(SUMMARY, format!("Upload failed: {problem}", problem = io_reason(&problem)))
        })
    }

    fn send(&self, session: &Session<'_>) -> std::io::Result<()> {
        match &self.what {
            What::Text(text) => send_text(session, &self.destination, text, 0o644),
            What::Path(path) if fs::metadata(path).is_ok_and(|facts| facts.is_dir()) => {
                // As with rsync: a slash at the end means what the folder holds.
                let holds = path.as_os_str().to_string_lossy().ends_with('/');
                // Canonical, because a path such as "." has no name of its own.
                let name = fs::canonicalize(path)?.file_name().map(|name| name.to_string_lossy().into_owned());
                session.send("-rt", &self.destination, |sender| match name {
                    Some(name) if !holds => sender.folder(&name, path),
                    _ => sender.contents(path),
                })
            }
            What::Path(path) => {
                let (folder, name) = split(&self.destination);
                session.send("-t", folder, |sender| sender.path(name, path))
            }
        }
    }
}

/// Sends a text as a file.
pub(super) fn send_text(session: &Session<'_>, destination: &str, text: &str, mode: u32) -> std::io::Result<()> {
    let (folder, name) = split(destination);
    session.send("-t", folder, |sender| sender.file(name, mode, text.len() as u64, &mut text.as_bytes()))
}

/// The folder and the name of a path on the machine.
fn split(path: &str) -> (&str, &str) {
    // A root directory has no parent, and its slash must stay.
    let path = if Path::new(path).parent().is_some() { path.trim_end_matches('/') } else { path };
    match path.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some((folder, name)) => (folder, name),
        None => (".", path),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_path_is_a_folder_and_a_name() {
        for (path, folder, name) in
            [("/tmp/a", "/tmp", "a"), ("/a", "/", "a"), ("a", ".", "a"), ("~/b/", "~", "b"), ("x/y/z", "x/y", "z")]
        {
            assert_eq!(super::split(path), (folder, name));
        }
    }
}
