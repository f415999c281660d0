//! Targets and excludes of a plan: `-target`, `-exclude`, and files of addresses.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use groma_address::{ParseError, Target};
use groma_diagnostics::{Decoded, Diagnostic, Diagnostics, io_reason};

use super::outcome::fail;
use crate::arguments::Planning;

/// Targets or excludes of a plan; both are empty for a full plan.
pub(super) struct Targets {
    pub targets: Vec<Target>,
    pub excludes: Vec<Target>,
}

/// Parses the flags.
pub(super) fn targets(planning: &Planning, problems: &mut Diagnostics) -> Targets {
    let focus = &planning.focus;
    let has_targets = !planning.target.is_empty() || !focus.target_file.is_empty();
    if has_targets && (!focus.exclude.is_empty() || !focus.exclude_file.is_empty()) {
        problems.append(fail(
            "Invalid combination of arguments",
            "-target and -target-file cannot be combined with -exclude and -exclude-file. Use only one of the two kinds.",
        ));
    }
    let mut targets = parsed(&planning.target, "target", problems);
    targets.extend(of_files(&focus.target_file, problems));
    let mut excludes = parsed(&focus.exclude, "exclude", problems);
    excludes.extend(of_files(&focus.exclude_file, problems));
    Targets { targets, excludes }
}

/// Reads files of addresses: one per line, with comments.
fn of_files(paths: &[PathBuf], problems: &mut Diagnostics) -> Vec<Target> {
    let mut targets = Vec::new();
    for path in paths {
        // Comments may be in any encoding, so the file need not be UTF-8.
        match std::fs::read(path).map(|bytes| Decoded::new(bytes).text) {
            Ok(text) => of_lines(path, &text, &mut targets, problems),
            Err(problem) => problems.append(fail(
                "Failed to read file",
                format!(
                    "The addresses in {} cannot be read: {problem}. Check the path.",
                    path.display(),
                    problem = io_reason(&problem)
                ),
            )),
        }
    }
    targets
}

fn of_lines(path: &Path, text: &str, targets: &mut Vec<Target>, problems: &mut Diagnostics) {
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        // Lines that begin with # are comments, as in OpenTofu.
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.parse() {
            Ok(target) => targets.push(target),
            Err(problem) => {
                let location = format!("{}, line {}", path.display(), number + 1);
                let detail = format!("{location}: {}", problem.message);
                problems.push(Diagnostic::error(format!("Invalid address {line:?}"), detail));
            }
        }
    }
}

/// Parses addresses from flags; error summaries call an address `what`.
pub(super) fn parsed<T: FromStr<Err = ParseError>>(texts: &[String], what: &str, problems: &mut Diagnostics) -> Vec<T> {
    let mut parsed = Vec::with_capacity(texts.len());
    for text in texts {
        match text.parse::<T>() {
            Ok(address) => parsed.push(address),
            Err(problem) => problems.push(Diagnostic::error(format!("Invalid {what} {text:?}"), problem.message)),
        }
    }
    parsed
}
