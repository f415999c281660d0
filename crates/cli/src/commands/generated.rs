//! `-generate-config-out`: the file of blocks that were written for imports.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use groma_diagnostics::{Diagnostic, Diagnostics, io_reason};
use groma_engine::Mode;
use groma_engine::plan::Generated as Block;

use super::context::Context;
use super::outcome::fail;
use crate::views::plan::Generated;

/// Checks as far as possible whether the file can be written later.
pub(super) fn check(path: &Path, mode: Mode) -> Result<(), Diagnostics> {
    if mode != Mode::Normal {
        let detail = "Blocks are written by a plan that makes objects match the configuration, not by one that destroys or only refreshes.";
        return Err(fail("Invalid generate-config-out flag", detail));
    }
    if path.exists() { Err(exists(path)) } else { Ok(()) }
}

/// That the file is there already.
pub(super) fn exists(path: &Path) -> Diagnostics {
    let detail = format!(
        "Blocks are written to a new file only, so that nothing is lost, and {} is there already. Give another name, or move what is in \
         it elsewhere and delete it.",
        path.display()
    );
    fail("Target generated file already exists", detail)
}

/// Writes the file, if there is anything to write.
pub(super) fn write(context: &Context, path: &Path, blocks: &[Block], problems: &mut Diagnostics) -> Generated {
    if blocks.is_empty() {
        return Generated::Nothing;
    }
    problems.push(Diagnostic::warning(
        "Config generation is experimental",
        "What is written from imported objects is a start: read it before use. How it is written may change.",
    ));
    match create(path, &text(&context.wording.product, blocks)) {
        Ok(()) => Generated::At(path.display().to_string()),
        Err(problem) => {
            problems.append(problem);
            Generated::Nothing
        }
    }
}

fn create(path: &Path, text: &str) -> Result<(), Diagnostics> {
    let unwritable = |problem: std::io::Error| match problem.kind() {
        ErrorKind::AlreadyExists => exists(path),
        _ => fail(
            "Failed to write generated file",
            format!("{} cannot be written: {problem}.", path.display(), problem = io_reason(&problem)),
        ),
    };
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(unwritable)?;
    file.write_all(text.as_bytes()).map_err(unwritable)
}

fn text(product: &str, blocks: &[Block]) -> String {
    let mut text = format!(
        "# __generated__ by {product}\n# Please review these resources and move them into your main configuration files.\n"
    );
    for block in blocks {
        let from = block.id.as_ref().map(|id| format!(" from {id:?}")).unwrap_or_default();
        let _ = write!(text, "\n# __generated__ by {product}{from}\n{}\n", block.text);
    }
    text
}
