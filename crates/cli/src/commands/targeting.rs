//! Options of partial plans: `-target`, `-exclude`, and files of such addresses.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use groma_address::{ParseError, Target};
use groma_diagnostics::{Decoded, Diagnostic, Diagnostics, io_reason};

use super::outcome::fail;
use crate::arguments::Planning;

/// The targets and the excludes; both are empty for a complete plan.
pub(super) struct Targets {
    pub targets: Vec<Target>,
    pub excludes: Vec<Target>,
}

/// Parses the options.
pub(super) fn targets(planning: &Planning, problems: &mut Diagnostics) -> Targets {
    let focus = &planning.focus;
    let aims = !planning.target.is_empty() || !focus.target_file.is_empty();
    if aims && (!focus.exclude.is_empty() || !focus.exclude_file.is_empty()) {
        problems.append(fail(
            "Invalid combination of arguments",
            "-target and -target-file say what a plan looks at, -exclude and -exclude-file what it does not look at. Give options of \
             one kind only.",
        ));
    }
    let mut targets = parsed(&planning.target, "target", problems);
    targets.extend(of_files(&focus.target_file, problems));
    let mut excludes = parsed(&focus.exclude, "exclude", problems);
    excludes.extend(of_files(&focus.exclude_file, problems));
    Targets { targets, excludes }
}

/// The addresses in files: one a line, and comments.
fn of_files(paths: &[PathBuf], problems: &mut Diagnostics) -> Vec<Target> {
    let mut targets = Vec::new();
    for path in paths {
        // Comments may be in any encoding.
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
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.parse() {
            Ok(target) => targets.push(target),
            Err(problem) => {
                let place = format!("{}, line {}", path.display(), number + 1);
                let detail = format!("{place}: {}", problem.message);
                problems.push(Diagnostic::error(format!("Invalid address {line:?}"), detail));
            }
        }
    }
}

/// The addresses that flags give; `what` names them: `target`.
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
