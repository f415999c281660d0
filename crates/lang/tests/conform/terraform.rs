//! Terraform's console, asked for many expressions.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use crate::Case;
use crate::world::World;

/// How many values are asked for at once.
const VALUES: usize = 40;

/// How many errors are asked for at once.
const ERRORS: usize = 12;

/// A console in a folder with the names of the world.
pub struct Terraform {
    program: PathBuf,
    folder: tempfile::TempDir,
}

impl Terraform {
    /// The one that `GROMA_TERRAFORM` names.
    pub fn find(configuration: &str) -> Option<Self> {
        let Some(program) = std::env::var_os("GROMA_TERRAFORM").filter(|path| !path.is_empty()) else {
            println!("skipped: no terraform");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("main.tf"), configuration).unwrap();
        Some(Self { program: PathBuf::from(program), folder })
    }

    /// What the console says to expressions of which we say `ours`; nothing where it agrees.
    ///
    /// It prints only the last of several lines, so that many are asked as one tuple: the values together, and those with errors together,
    /// since a tuple reports the errors of all its parts. Only where that differs are they asked in smaller groups.
    pub fn differing(&self, ours: &[Case]) -> Vec<Option<String>> {
        let alone = |text: &str| text.starts_with("type(") || text.contains(['#', '/']) || text.is_empty();
        let (single, grouped): (Vec<usize>, Vec<usize>) = (0..ours.len()).partition(|index| alone(&ours[*index].0));
        let (mut failing, fine): (Vec<usize>, Vec<usize>) =
            grouped.into_iter().partition(|index| is_error(&ours[*index].1));
        // Errors that are found before anything is evaluated hide the others.
        failing.sort_by_key(|index| &ours[*index].1);
        let mut jobs: Vec<Vec<usize>> = single.into_iter().map(|index| vec![index]).collect();
        jobs.extend(fine.chunks(VALUES).map(<[usize]>::to_vec));
        jobs.extend(failing.chunks(ERRORS).map(<[usize]>::to_vec));
        let jobs = Mutex::new(jobs);
        let found = Mutex::new(vec![None; ours.len()]);
        let workers = std::thread::available_parallelism().map_or(2, usize::from);
        std::thread::scope(|threads| {
            for _ in 0..workers {
                threads.spawn(|| {
                    let world = World::new();
                    loop {
                        let Some(job) = jobs.lock().unwrap().pop() else { break };
                        self.narrow(&world, ours, &job, &found);
                    }
                });
            }
        });
        found.into_inner().unwrap()
    }

    fn narrow(&self, world: &World, ours: &[Case], job: &[usize], found: &Mutex<Vec<Option<String>>>) {
        if let [index] = job {
            let theirs = self.ask(&ours[*index].0);
            if !agrees(&ours[*index].1, &theirs) {
                found.lock().unwrap()[*index] = Some(theirs);
            }
            return;
        }
        let part = |pick: fn(&Case) -> &str| -> Vec<&str> { job.iter().map(|index| pick(&ours[*index])).collect() };
        let tuple = format!("[{}]", part(|case| &case.0).join(", "));
        let summaries = part(|case| case.1.strip_prefix("error: ").unwrap_or_default());
        let wanted =
            if is_error(&ours[job[0]].1) { format!("error: {}", summaries.join(" | ")) } else { world.answer(&tuple) };
        if self.ask(&tuple) != wanted {
            let (first, second) = job.split_at(job.len() / 2);
            self.narrow(world, ours, first, found);
            self.narrow(world, ours, second, found);
        }
    }

    fn ask(&self, expression: &str) -> String {
        let mut console = Command::new(&self.program)
            .args(["console", "-plan"])
            .current_dir(self.folder.path())
            .env("CHECKPOINT_DISABLE", "1")
            .env_remove("TF_CLI_CONFIG_FILE")
            .env_remove("TF_DATA_DIR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        console.stdin.take().unwrap().write_all(expression.as_bytes()).unwrap();
        let output = console.wait_with_output().unwrap();
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
}

fn is_error(answer: &str) -> bool {
    answer.starts_with("error: ")
}

/// What stands for an error of Terraform's own, which nobody can mean.
const PANIC: &str = "panic";

/// Terraform reports what follows from a first error too, and sorts all by place: ours has to be among them.
fn agrees(ours: &str, theirs: &str) -> bool {
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
