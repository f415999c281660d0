//! What Terraform makes of many expressions: its console for values, its `validate` for mistakes.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An expression and what we say to it: what the console prints, or `error: ` and the summary of the first error.
pub type Case = (String, String);

/// Names and functions as we have them.
pub trait Ours {
    /// What we say to an expression.
    fn answer(&self, text: &str) -> String;

    /// Whether it is one.
    fn parses(&self, text: &str) -> bool;
}

/// How many values are asked for at once.
const VALUES: usize = 60;

/// How many mistakes are looked for at once: every one has a line of its own in a configuration, and that takes longer with the square of them.
const MISTAKES: usize = 150;

/// How many errors are asked for at once where a configuration did not show them.
const ERRORS: usize = 12;

/// The file of mistakes.
const LINES: &str = "mistakes.tf";

/// A program, and a folder with what the expressions name.
pub struct Terraform {
    program: PathBuf,
    console: &'static [&'static str],
    folder: tempfile::TempDir,
}

/// What is asked in one run.
enum Job {
    /// Mistakes, by `validate`.
    Mistakes(Vec<usize>),
    /// Values or errors that are of one kind, by the console.
    Group(Vec<usize>),
}

/// What is being found out.
struct Search<'a> {
    ours: &'a [Case],
    jobs: Mutex<Vec<Job>>,
    found: Mutex<Vec<Option<String>>>,
    done: AtomicUsize,
}

impl Terraform {
    /// The one that `GROMA_TERRAFORM` names, with the arguments that start its console; `fill` makes the folder.
    pub fn find(console: &'static [&'static str], fill: impl FnOnce(&Path)) -> Option<Self> {
        let Some(program) = std::env::var_os("GROMA_TERRAFORM").filter(|path| !path.is_empty()) else {
            println!("skipped: no terraform");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path());
        Some(Self { program: PathBuf::from(program), console, folder })
    }

    /// What it says to expressions of which we say `ours`; nothing where it agrees.
    ///
    /// A process for each would take an hour. `validate` tells all mistakes of a configuration with their lines, so that many are asked for
    /// in one. Values, and mistakes that only a plan shows, are parts of a tuple in the console, which prints only the last of several
    /// lines; where the tuple differs its halves are asked for.
    pub fn differing<O: Ours>(&self, world: impl Fn() -> O + Sync, ours: &[Case]) -> Vec<Option<String>> {
        let search = Search {
            ours,
            jobs: Mutex::new(jobs(&world(), ours)),
            found: Mutex::new(vec![None; ours.len()]),
            done: AtomicUsize::new(0),
        };
        let workers = std::thread::available_parallelism().map_or(2, usize::from);
        std::thread::scope(|threads| {
            for _ in 0..workers {
                threads.spawn(|| self.work(&world(), &search));
            }
        });
        search.found.into_inner().unwrap()
    }

    fn work(&self, world: &impl Ours, search: &Search) {
        loop {
            let Some(job) = search.jobs.lock().unwrap().pop() else { break };
            let unsettled = match job {
                Job::Group(group) => {
                    self.narrow(world, search, &group);
                    search.report_progress(group.len());
                    continue;
                }
                Job::Mistakes(mistakes) => {
                    let unsettled = self.not_agreed(search.ours, &mistakes);
                    search.report_progress(mistakes.len() - unsettled.len());
                    unsettled
                }
            };
            search.jobs.lock().unwrap().extend(unsettled.chunks(ERRORS).map(|group| Job::Group(group.to_vec())));
        }
    }

    /// The mistakes that `validate` does not find, or calls something else.
    fn not_agreed(&self, ours: &[Case], mistakes: &[usize]) -> Vec<usize> {
        let folder = tempfile::tempdir().unwrap();
        copy(self.folder.path(), folder.path());
        let lines: Vec<String> = mistakes.iter().map(|index| format!("  e{index} = {}\n", ours[*index].0)).collect();
        std::fs::write(folder.path().join(LINES), format!("locals {{\n{}}}\n", lines.concat())).unwrap();
        let output = self.command(&["validate", "-json"], folder.path()).output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let mut found: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for diagnostic in report["diagnostics"].as_array().into_iter().flatten() {
            let (place, summary) = (&diagnostic["range"], diagnostic["summary"].as_str());
            let line = place["start"]["line"].as_u64().filter(|_| place["filename"] == LINES);
            if let (Some(line), Some(summary)) = (line, summary) {
                found.entry(line as usize - 2).or_default().push(summary);
            }
        }
        let agreed = |at: usize, index: usize| {
            let ours = ours[index].1.strip_prefix("error: ").unwrap_or_default();
            found.get(&at).is_some_and(|summaries| summaries.contains(&ours))
        };
        mistakes.iter().enumerate().filter(|(at, index)| !agreed(*at, **index)).map(|(_, index)| *index).collect()
    }

    fn narrow(&self, world: &impl Ours, search: &Search, group: &[usize]) {
        let ours = search.ours;
        if let [index] = group {
            let theirs = self.ask(&ours[*index].0);
            if !agrees(&ours[*index].1, &theirs) {
                search.found.lock().unwrap()[*index] = Some(theirs);
            }
            return;
        }
        let part = |pick: fn(&Case) -> &str| -> Vec<&str> { group.iter().map(|index| pick(&ours[*index])).collect() };
        let tuple = format!("[{}]", part(|case| &case.0).join(", "));
        let summaries = part(|case| case.1.strip_prefix("error: ").unwrap_or_default());
        let wanted = if is_error(&ours[group[0]].1) {
            format!("error: {}", summaries.join(" | "))
        } else {
            world.answer(&tuple)
        };
        if self.ask(&tuple) != wanted {
            let (first, second) = group.split_at(group.len() / 2);
            self.narrow(world, search, first);
            self.narrow(world, search, second);
        }
    }

    fn command(&self, arguments: &[&str], folder: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(folder).env("CHECKPOINT_DISABLE", "1");
        command.env_remove("TF_CLI_CONFIG_FILE").env_remove("TF_DATA_DIR");
        command
    }

    fn ask(&self, expression: &str) -> String {
        let mut console = self
            .command(self.console, self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        console.stdin.take().unwrap().write_all(expression.as_bytes()).unwrap();
        said(&console.wait_with_output().unwrap())
    }
}

impl Search<'_> {
    /// Says how far it is, now and then.
    fn report_progress(&self, count: usize) {
        let before = self.done.fetch_add(count, Ordering::Relaxed);
        if before / 500 != (before + count) / 500 {
            println!("\nprogress: {} of {}", before + count, self.ours.len());
        }
    }
}

/// Which are asked for together: mistakes in what can be parsed, values, and each of the others alone.
fn jobs(world: &impl Ours, ours: &[Case]) -> Vec<Job> {
    let comment = |text: &str| text.contains('#') || text.contains("//") || text.contains("/*");
    let alone = |text: &str| text.starts_with("type(") || text.is_empty() || comment(text) || !world.parses(text);
    let (single, grouped): (Vec<usize>, Vec<usize>) = (0..ours.len()).partition(|index| alone(&ours[*index].0));
    let (failing, fine): (Vec<usize>, Vec<usize>) = grouped.into_iter().partition(|index| is_error(&ours[*index].1));
    let mut jobs: Vec<Job> = single.into_iter().map(|index| Job::Group(vec![index])).collect();
    jobs.extend(fine.chunks(VALUES).map(|group| Job::Group(group.to_vec())));
    jobs.extend(failing.chunks(MISTAKES).map(|group| Job::Mistakes(group.to_vec())));
    jobs
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
        }
    }
}

fn said(output: &Output) -> String {
    if output.status.success() {
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        return out.strip_suffix('\n').unwrap_or(&out).to_owned();
    }
    let err = plain(&String::from_utf8_lossy(&output.stderr));
    if err.contains("panic in function implementation") {
        return String::from(PANIC);
    }
    let summaries: Vec<&str> = err.lines().filter_map(|line| Some(line.split_once("Error: ")?.1.trim())).collect();
    format!("error: {}", summaries.join(" | "))
}

fn is_error(answer: &str) -> bool {
    answer.starts_with("error: ")
}

/// What stands for an error of Terraform's own, which nobody can mean.
const PANIC: &str = "panic";

/// Terraform reports what follows from a first error too, and sorts all by place: ours has to be among them.
pub fn agrees(ours: &str, theirs: &str) -> bool {
    match (ours.strip_prefix("error: "), theirs.strip_prefix("error: ")) {
        (Some(ours), Some(theirs)) => theirs.split(" | ").any(|summary| summary == ours),
        _ => ours == theirs || theirs == PANIC,
    }
}

/// The text without the codes for colours.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        out.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    out + rest
}
