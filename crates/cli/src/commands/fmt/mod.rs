//! `fmt`: rewrites configuration files in the canonical style.

mod difference;
mod rewrite;

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use groma_diagnostics::{Diagnostics, Sources, io_reason};
use groma_hcl::try_format_bytes;

use self::difference::unified;
use self::rewrite::rewrite;
use super::context::Context;
use super::outcome::{Outcome, fail};
use crate::arguments::{Flag, Fmt};

/// Suffixes of files in native syntax.
const ENDINGS: [&str; 7] = [".tf", ".tfvars", ".tftest.hcl", ".tfmock.hcl", ".tfquery.hcl", ".tofu", ".tofutest.hcl"];

/// Name of standard input in messages and diffs.
const STANDARD_INPUT: &str = "<stdin>";

/// Exit code of `-check` if a file is not formatted.
const DIFFERS: u8 = 3;

/// Exit code after an error.
const WRONG: u8 = 2;

/// Whether formatted files are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Store {
    Write,
    Leave,
}

/// Depth of the search for files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    OneDirectory,
    Recursive,
}

/// Output for a file that is not formatted.
#[derive(Clone, Copy)]
struct Report {
    list: bool,
    diff: bool,
    /// Whether the formatted text is printed, because it is neither written nor reported otherwise.
    text: bool,
}

/// Result of formatting a file.
enum Done {
    Same(Vec<u8>),
    Differs { old: Vec<u8>, new: Vec<u8> },
    Wrong(Diagnostics),
}

pub(super) fn run(context: &mut Context, arguments: &Fmt) -> Outcome {
    context.configure_view(&arguments.view);
    let checks = arguments.check.is_some_and(Flag::is_on);
    let diff = arguments.diff.is_some_and(Flag::is_on);
    let list = arguments.list.is_none_or(Flag::is_on);
    // -check implies -write=false, as in Terraform.
    let write = arguments.write.is_none_or(Flag::is_on) && !checks;
    if arguments.targets.first().is_some_and(|first| first == Path::new("-")) {
        return standard_input(
            context,
            // With -check only the exit code matters.
            if checks {
                Report { list: false, diff: false, text: false }
            } else {
                Report { list: false, diff, text: !diff }
            },
            if checks { DIFFERS } else { 0 },
        );
    }
    // -list=false -write=false prints the formatted text, as in Terraform.
    let report = Report { list, diff, text: !list && !write && !diff && !checks };
    let (files, problems) = found(context, arguments);
    let done = work(&files, &context.sources, if write { Store::Write } else { Store::Leave });
    let mut differs = false;
    let mut wrong = problems.has_errors();
    context.show(&problems);
    // Results are reported in the order of the files, whatever thread was first.
    for (path, done) in files.iter().zip(done) {
        match done {
            Done::Wrong(diagnostics) => {
                wrong = true;
                context.show(&diagnostics);
            }
            Done::Same(text) => report.print(context, path, None, &text),
            Done::Differs { old, new } => {
                differs = true;
                report.print(context, path, Some(&old), &new);
            }
        }
    }
    Ok(match (wrong, checks && differs) {
        (true, _) => WRONG,
        (false, true) => DIFFERS,
        (false, false) => 0,
    })
}

/// Formats standard input; the exit code is `differs` if it was not formatted.
fn standard_input(context: &Context, report: Report, differs: u8) -> Outcome {
    let mut old = Vec::new();
    if let Err(error) = io::stdin().lock().read_to_end(&mut old) {
        return Err(fail(
            "Failed to read standard input",
            format!("Standard input cannot be read: {error}.", error = io_reason(&error)),
        ));
    }
    let name = Path::new(STANDARD_INPUT);
    match format(&context.sources, name, old) {
        Done::Wrong(diagnostics) => {
            context.show(&diagnostics);
            Ok(WRONG)
        }
        Done::Same(text) => {
            report.print(context, name, None, &text);
            Ok(0)
        }
        Done::Differs { old, new } => {
            report.print(context, name, Some(&old), &new);
            Ok(differs)
        }
    }
}

impl Report {
    /// Prints the report about the file at `path`; `old` is `None` if it was already formatted.
    fn print(self, context: &Context, path: &Path, old: Option<&[u8]>, new: &[u8]) {
        let name = path.display();
        if let Some(old) = old {
            if self.list {
                // Scripts pass the names on to other programs, so a name that is not UTF-8 is printed unchanged.
                context.streams.print_document_bytes(&[path.as_os_str().as_encoded_bytes(), b"\n"].concat());
            }
            if self.diff {
                context.streams.print_document_bytes(&unified(&name.to_string(), old, new));
            }
        }
        if self.text {
            context.streams.print_document_bytes(new);
            // Like Terraform, end the output with a line break, even for empty standard input.
            if !new.ends_with(b"\n") && (!new.is_empty() || name.to_string() == STANDARD_INPUT) {
                context.streams.print("\n");
            }
        }
    }
}

/// Returns the path relative to the working directory, without `..` where possible.
fn relative_to_here(path: &Path) -> PathBuf {
    let is_plain = path.is_relative() && !path.components().any(|part| part == Component::ParentDir);
    // Without a working directory the path is shown as given.
    let Some(here) = std::env::current_dir().ok().filter(|_| !is_plain) else { return path.to_owned() };
    let mut whole = PathBuf::new();
    for part in here.join(path).components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            part => whole.push(part),
        }
    }
    let path = &whole;
    let shared = here.components().zip(path.components()).take_while(|(one, other)| one == other).count();
    let up = here.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(path.components().skip(shared)).collect()
}

/// Returns the files that the arguments select, sorted by name within each directory.
fn found(context: &Context, arguments: &Fmt) -> (Vec<PathBuf>, Diagnostics) {
    let mut files = Vec::new();
    let mut problems = Diagnostics::new();
    let depth = if arguments.recursive.is_some_and(Flag::is_on) { Depth::Recursive } else { Depth::OneDirectory };
    let here = [PathBuf::from(".")];
    for target in if arguments.targets.is_empty() { &here } else { arguments.targets.as_slice() } {
        let target = &relative_to_here(target);
        let target = target.strip_prefix(".").unwrap_or(target);
        let path = if target.as_os_str().is_empty() { Path::new(".") } else { target };
        if path.is_dir() {
            in_folder(target, depth, &mut files, &mut problems);
        // A misspelled path is an error, so that a pipeline does not pass without checking anything.
        } else if !path.exists() {
            problems.append(fail(
                &format!("No file or directory at {}", path.display()),
                "Check the spelling of the path.",
            ));
        } else if is_ours(path.as_os_str()) {
            files.push(path.to_owned());
        } else {
            problems.append(fail(
                &format!(
                    "Only .tf, .tfvars, and .tftest.hcl files can be processed with {} fmt",
                    context.wording.command
                ),
                format!("{} has a different extension.", path.display()),
            ));
        }
    }
    (files, problems)
}

fn in_folder(folder: &Path, depth: Depth, files: &mut Vec<PathBuf>, problems: &mut Diagnostics) {
    let directory = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(directory).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => {
            problems.append(fail(
                "Failed to read directory",
                format!("{} cannot be read: {error}.", directory.display(), error = io_reason(&error)),
            ));
            return;
        }
    };
    // The order of directory entries depends on the file system.
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        if is_ignored(&name) {
            continue;
        }
        let path = folder.join(&name);
        // Symbolic links to directories are not followed, so a cycle of links cannot loop.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if depth == Depth::Recursive {
                in_folder(&path, depth, files, problems);
            }
        } else if is_ours(&name) {
            files.push(path);
        }
    }
}

/// Whether the file is hidden, or a backup of Vim (`x~`) or Emacs (`#x#`).
fn is_ignored(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b".") || name.ends_with(b"~") || (name.starts_with(b"#") && name.ends_with(b"#"))
}

fn is_ours(name: &OsStr) -> bool {
    ENDINGS.iter().any(|ending| name.as_encoded_bytes().ends_with(ending.as_bytes()))
}

/// Formats files on all processors; returns the results in the order of the files.
fn work(files: &[PathBuf], sources: &Arc<Sources>, store: Store) -> Vec<Done> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
    // Threads take the next file from a shared index, since file sizes differ too much for equal shares.
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = files.get(index) else { return done };
            done.push((index, file(path, sources, store)));
        }
    };
    let mut all: Vec<(usize, Done)> = std::thread::scope(|scope| {
        // If the operating system refuses more threads, the others do all the work.
        let start = || std::thread::Builder::new().name("fmt".to_owned()).spawn_scoped(scope, worker);
        let handles: Vec<_> = (1..threads).map_while(|_| start().ok()).collect();
        let mut all = worker();
        // This thread works too, so one thread fewer is started.
        for handle in handles {
            all.extend(handle.join().unwrap_or_default());
        }
        all
    });
    // Each worker returns its own results, which are in no common order.
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, done)| done).collect()
}

fn file(path: &Path, sources: &Sources, store: Store) -> Done {
    let old = match fs::read(path) {
        Ok(old) => old,
        Err(error) => {
            let detail = format!("{} cannot be read: {error}.", path.display(), error = io_reason(&error));
            return Done::Wrong(fail("Failed to read file", detail));
        }
    };
    let done = format(sources, path, old);
    // The old content stays if writing fails: `rewrite` replaces the file as a whole.
    if let (Done::Differs { new, .. }, Store::Write) = (&done, store)
        && let Err(error) = rewrite(path, new)
    {
        return Done::Wrong(fail(
            "Failed to write file",
            format!("{} cannot be written: {error}.", path.display(), error = io_reason(&error)),
        ));
    }
    done
}

fn format(sources: &Sources, path: &Path, old: Vec<u8>) -> Done {
    match try_format_bytes(&old) {
        Some(new) if new == old => Done::Same(old),
        Some(new) => Done::Differs { old, new },
        // The formatter only refuses files with syntax errors, and the parser reports these.
        None => {
            let Some(file) = sources.add_bytes(path.to_string_lossy(), old) else {
                return Done::Wrong(fail("Configuration too large", "All files together must not exceed 4 GiB."));
            };
            let (_, diagnostics) = groma_hcl::parse_file(&file);
            Done::Wrong(diagnostics)
        }
    }
}
