//! `fmt`: files in the canonical layout.

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

/// Endings of files in the native syntax.
const ENDINGS: [&str; 7] = [".tf", ".tfvars", ".tftest.hcl", ".tfmock.hcl", ".tfquery.hcl", ".tofu", ".tofutest.hcl"];

/// The name of standard input in messages.
const STANDARD_INPUT: &str = "<stdin>";

/// The exit code of `-check` when something differs.
const DIFFERS: u8 = 3;

/// The exit code when something is wrong.
const WRONG: u8 = 2;

/// The treatment of a file that is not formatted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Store {
    Write,
    Leave,
}

/// The depth of the search for files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    OneFolder,
    Everything,
}

/// The output about a file that is not formatted.
#[derive(Clone, Copy)]
struct Telling {
    list: bool,
    diff: bool,
    /// Print the formatted text, if nothing else is printed or written.
    text: bool,
}

/// A file, worked on.
enum Done {
    Same(Vec<u8>),
    Differs { old: Vec<u8>, new: Vec<u8> },
    Wrong(Diagnostics),
}

pub(super) fn run(context: &mut Context, arguments: &Fmt) -> Outcome {
    context.view(&arguments.view);
    let checks = arguments.check.is_some_and(Flag::is_on);
    let diff = arguments.diff.is_some_and(Flag::is_on);
    let list = arguments.list.is_none_or(Flag::is_on);
    let write = arguments.write.is_none_or(Flag::is_on) && !checks;
    if arguments.targets.first().is_some_and(|first| first == Path::new("-")) {
        return standard_input(
            context,
            if checks {
                Telling { list: false, diff: false, text: false }
            } else {
                Telling { list: false, diff, text: !diff }
            },
            if checks { DIFFERS } else { 0 },
        );
    }
    let telling = Telling { list, diff, text: !list && !write && !diff && !checks };
    let (files, problems) = found(context, arguments);
    let done = work(&files, &context.sources, if write { Store::Write } else { Store::Leave });
    let mut differs = false;
    let mut wrong = problems.has_errors();
    context.show(&problems);
    for (path, done) in files.iter().zip(done) {
        match done {
            Done::Wrong(diagnostics) => {
                wrong = true;
                context.show(&diagnostics);
            }
            Done::Same(text) => tell(context, telling, path, None, &text),
            Done::Differs { old, new } => {
                differs = true;
                tell(context, telling, path, Some(&old), &new);
            }
        }
    }
    Ok(match (wrong, checks && differs) {
        (true, _) => WRONG,
        (false, true) => DIFFERS,
        (false, false) => 0,
    })
}

/// Formats standard input; the exit code is `differs` when its layout is another.
fn standard_input(context: &Context, telling: Telling, differs: u8) -> Outcome {
    let mut old = Vec::new();
    if let Err(error) = io::stdin().lock().read_to_end(&mut old) {
        return Err(fail(
            "Failed to read standard input",
            format!("The text cannot be read: {error}.", error = io_reason(&error)),
        ));
    }
    let name = Path::new(STANDARD_INPUT);
    match format(&context.sources, name, old) {
        Done::Wrong(diagnostics) => {
            context.show(&diagnostics);
            Ok(WRONG)
        }
        Done::Same(text) => {
            tell(context, telling, name, None, &text);
            Ok(0)
        }
        Done::Differs { old, new } => {
            tell(context, telling, name, Some(&old), &new);
            Ok(differs)
        }
    }
}

fn tell(context: &Context, telling: Telling, path: &Path, old: Option<&[u8]>, new: &[u8]) {
    let name = path.display();
    if let Some(old) = old {
        if telling.list {
            // Scripts pass the names on to other programs, so a name that is not UTF-8 is printed as it is.
            context.streams.print_document_bytes(&[path.as_os_str().as_encoded_bytes(), b"\n"].concat());
        }
        if telling.diff {
            context.streams.print_document_bytes(&unified(&name.to_string(), old, new));
        }
    }
    if telling.text {
        context.streams.print_document_bytes(new);
        // What comes next begins on a line of its own, also where an empty text was given.
        if !new.ends_with(b"\n") && (!new.is_empty() || name.to_string() == STANDARD_INPUT) {
            context.streams.print("\n");
        }
    }
}

/// A path as it is seen from here, without detours.
fn seen_from_here(path: &Path) -> PathBuf {
    let is_plain = path.is_relative() && !path.components().any(|part| part == Component::ParentDir);
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

/// The files that the arguments mean, each folder's sorted by name.
fn found(context: &Context, arguments: &Fmt) -> (Vec<PathBuf>, Diagnostics) {
    let mut files = Vec::new();
    let mut problems = Diagnostics::new();
    let depth = if arguments.recursive.is_some_and(Flag::is_on) { Depth::Everything } else { Depth::OneFolder };
    let here = [PathBuf::from(".")];
    for target in if arguments.targets.is_empty() { &here } else { arguments.targets.as_slice() } {
        let target = &seen_from_here(target);
        let target = target.strip_prefix(".").unwrap_or(target);
        let place = if target.as_os_str().is_empty() { Path::new(".") } else { target };
        if place.is_dir() {
            in_folder(target, depth, &mut files, &mut problems);
        } else if !place.exists() {
            problems.append(fail(
                &format!("No file or directory at {}", place.display()),
                "Check the spelling of the path.",
            ));
        } else if is_ours(place.as_os_str()) {
            files.push(place.to_owned());
        } else {
            problems.append(fail(
                &format!(
                    "Only .tf, .tfvars, and .tftest.hcl files can be processed with {} fmt",
                    context.wording.command
                ),
                format!("{} has another ending.", place.display()),
            ));
        }
    }
    (files, problems)
}

fn in_folder(folder: &Path, depth: Depth, files: &mut Vec<PathBuf>, problems: &mut Diagnostics) {
    let place = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(place).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => {
            problems.append(fail(
                "Failed to read directory",
                format!("{} cannot be read: {error}.", place.display(), error = io_reason(&error)),
            ));
            return;
        }
    };
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        if is_ignored(&name) {
            continue;
        }
        let path = folder.join(&name);
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if depth == Depth::Everything {
                in_folder(&path, depth, files, problems);
            }
        } else if is_ours(&name) {
            files.push(path);
        }
    }
}

/// Whether the file is hidden, or a backup of vim (`x~`) or emacs (`#x#`).
fn is_ignored(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b".") || name.ends_with(b"~") || (name.starts_with(b"#") && name.ends_with(b"#"))
}

fn is_ours(name: &OsStr) -> bool {
    ENDINGS.iter().any(|ending| name.as_encoded_bytes().ends_with(ending.as_bytes()))
}

/// Works on the files with as many threads as there are processors; the results are in the order of the files.
fn work(files: &[PathBuf], sources: &Arc<Sources>, store: Store) -> Vec<Done> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
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
        // With fewer threads it only takes longer.
        let start = || std::thread::Builder::new().name("fmt".to_owned()).spawn_scoped(scope, worker);
        let handles: Vec<_> = (1..threads).map_while(|_| start().ok()).collect();
        let mut all = worker();
        for handle in handles {
            all.extend(handle.join().unwrap_or_default());
        }
        all
    });
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
        None => {
            let Some(file) = sources.add_bytes(path.to_string_lossy(), old) else {
                return Done::Wrong(fail("Configuration too large", "All files together may hold 4 GiB at most."));
            };
            let (_, diagnostics) = groma_hcl::parse_file(&file);
            Done::Wrong(diagnostics)
        }
    }
}
