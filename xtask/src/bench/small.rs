//! What people wait for most often: the start of the program, and the quick start.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::measure::{Cost, measure};
use super::table::seconds;

/// Runs of `version`, of which the median counts.
const STARTS: usize = 20;

/// A line for `groma version`, with a median: here the usual counts, not the best.
///
/// # Errors
///
/// The command fails.
pub fn start(groma: &Path) -> Result<String, String> {
    let here = std::env::temp_dir();
    let runs: Result<Vec<Cost>, String> = (0..STARTS).map(|_| measure(groma, &["version"], &here)).collect();
    let mut walls: Vec<f64> = runs?.iter().map(|cost| cost.wall * 1e3).collect();
    walls.sort_by(f64::total_cmp);
    let median = walls.get(STARTS / 2).copied().unwrap_or(f64::NAN);
    let least = walls.first().copied().unwrap_or(f64::NAN);
    Ok(format!("`groma version`: median of {STARTS} {median:.1} ms, least {least:.1} ms (aim: 10 ms)"))
}

/// Lines for plan, apply and plan again of the quick start.
///
/// # Errors
///
/// A command fails, or the disk does.
pub fn quick_start(groma: &Path, workspace: &Path, runs: usize) -> Result<Vec<String>, String> {
    let steps: [(&str, &[&str], &str); 3] = [
        ("plan", &["plan", "-no-color"], " (aim: 0.150 s)"),
        ("apply", &["apply", "-no-color", "-auto-approve"], " (aim: 2 s)"),
        ("no-op plan", &["plan", "-no-color"], ""),
    ];
    let mut least: Vec<Option<Cost>> = vec![None; steps.len()];
    for _ in 0..runs {
        let folder = tempfile::tempdir().map_err(|error| format!("cannot make a temporary folder: {error}"))?;
        copy(&workspace.join("examples/quickstart"), folder.path())
            .map_err(|error| format!("cannot copy the quick start: {error}"))?;
        measure(groma, &["init", "-no-color"], folder.path())?;
        for ((_, arguments, _), least) in steps.iter().zip(&mut least) {
            let cost = measure(groma, arguments, folder.path())?;
            *least = Some(least.map_or(cost, |known| known.least(cost)));
        }
    }
    let line = |((name, _, aim), cost): (&(&str, &[&str], &str), Option<Cost>)| {
        let cost = cost?;
        let (wall, cpu, peak) = (seconds(cost.wall), seconds(cost.cpu), cost.peak / 1e6);
        Some(format!("quick start, {name}: {wall} s, CPU {cpu} s, peak {peak:.0} MB{aim}"))
    };
    Ok(steps.iter().zip(least).filter_map(line).collect())
}

/// Copies what an author wrote, not what runs left.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let hidden = name.to_string_lossy().starts_with('.');
        let target: PathBuf = to.join(&name);
        if entry.file_type()?.is_dir() {
            if !hidden {
                std::fs::create_dir(&target)?;
                copy(&entry.path(), &target)?;
            }
        } else if !hidden && !name.to_string_lossy().contains(".tfstate") {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// What the measuring examples of a library print.
///
/// # Errors
///
/// The example does not build or run.
pub fn library(cargo: &str, workspace: &Path, package: &str, example: &str) -> Result<String, String> {
    let output = Command::new(cargo)
        .args(["run", "--quiet", "--release", "--package", package, "--example", example])
        .current_dir(workspace)
        .output()
        .map_err(|error| format!("cannot run {cargo}: {error}"))?;
    if !output.status.success() {
        return Err(format!("the example {example} of {package}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
