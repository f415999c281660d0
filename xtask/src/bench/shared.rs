//! Runs on a shared state: many at once, compared with one alone.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use super::measure::measure;

/// The number of runs at once.
const RUNS: usize = 20;

/// The number of resource blocks, and of instances of each.
const BLOCKS: usize = 200;
const INSTANCES: usize = 50;

/// The seconds that each creation takes.
const SECONDS: u32 = 2;

/// Measures runs that each replace the instances of one block, and returns the lines to print.
///
/// # Errors
///
/// A command fails.
pub fn lines(groma: &Path) -> Result<Vec<String>, String> {
    let folder = TempDir::new().map_err(|error| format!("cannot create a directory: {error}"))?;
    write(folder.path(), "")?;
    measure(groma, &["apply", "-auto-approve"], folder.path())?;
    measure(groma, &["state", "sharing", "enable"], folder.path())?;
    // The creations before must not take their time.
    let wait = format!("\n  provisioner \"local-exec\" {{\n    command = \"sleep {SECONDS}\"\n  }}");
    write(folder.path(), &wait)?;
    let alone = elapsed(groma, folder.path(), 0..1)?;
    let together = elapsed(groma, folder.path(), 1..1 + RUNS)?;
    Ok(vec![format!(
        "shared state of {} instances: one run of {INSTANCES} objects takes {alone:.2} s, {RUNS} runs at once take {together:.2} s ({:.2} times)",
        BLOCKS * INSTANCES,
        together / alone
    )])
}

fn write(folder: &Path, provisioner: &str) -> Result<(), String> {
    let mut text = String::new();
    for block in 0..BLOCKS {
        let _ = writeln!(
            text,
            "variable \"v{block}\" {{\n  default = 1\n}}\nresource \"terraform_data\" \"r{block}\" {{\n  count = {INSTANCES}\n  \
             triggers_replace = var.v{block}{provisioner}\n}}"
        );
    }
    std::fs::write(folder.join("main.tf"), text).map_err(|error| format!("cannot write the configuration: {error}"))
}

/// Returns the seconds until a run for each of these blocks has ended.
fn elapsed(groma: &Path, folder: &Path, blocks: std::ops::Range<usize>) -> Result<f64, String> {
    let begin = Instant::now();
    let start = |block: usize| {
        let value = format!("-var=v{block}=2");
        let target = format!("-target=terraform_data.r{block}");
        Command::new(groma)
            .args(["apply", "-auto-approve", "-lock-timeout=300s", &value, &target])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start a run: {error}"))
    };
    // All runs are started before the first one is waited for.
    let runs = blocks.map(start).collect::<Result<Vec<Child>, String>>()?;
    for run in runs {
        let output = run.wait_with_output().map_err(|error| format!("cannot wait for a run: {error}"))?;
        if !output.status.success() {
            return Err(format!("a shared run failed:\n{}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    Ok(begin.elapsed().as_secs_f64())
}
