//! The output file of `-json-into`.

use std::fs::File;
use std::path::Path;

use groma_diagnostics::{Diagnostics, io_reason};

use super::outcome::fail;

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

fn owned_file(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Returns the error for -json together with -json-into.
pub(super) fn json_twice() -> Diagnostics {
    let detail = "-json replaces text with JSON, and -json-into writes JSON to a file in addition to the text. Use only one of them.";
    fail("Invalid output format", detail)
}
