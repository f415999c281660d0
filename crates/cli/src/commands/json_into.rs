//! The file of `-json-into`.

use std::fs::File;
use std::path::Path;

use groma_diagnostics::{Diagnostics, io_reason};

use super::outcome::fail;

/// A new file for JSON.
///
/// # Errors
/// It cannot be written.
pub(super) fn json_file(path: &Path) -> Result<File, Diagnostics> {
    // Messages contain secrets, so the file is for its owner only.
    owned_file(path).map_err(|problem| {
        let detail = format!(
            "The file {} of the option -json-into cannot be written: {problem}. Name one in a folder that exists.",
            path.display(),
            problem = io_reason(&problem)
        );
        fail("Invalid argument", detail)
    })
}

fn owned_file(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// -json and -json-into do not go together.
pub(super) fn json_twice() -> Diagnostics {
    let detail =
        "-json prints JSON in place of text, and -json-into writes it to a file beside the text: give one of them.";
    fail("Invalid output format", detail)
}
