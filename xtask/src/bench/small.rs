//! Measurement of short commands: program start, and the quick start example.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::measure::{Cost, measure};
use super::table::seconds;

/// The number of runs of `version`.
const STARTS: usize = 20;

/// Measures `groma version`; returns a line with the median, which here matters more than the minimum.
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
    Ok(format!("`groma version`: median of {STARTS} {median:.1} ms, minimum {least:.1} ms (aim: 10 ms)"))
}

/// Measures plan, apply and no-op plan of the quick start; returns a line for each.
///
/// # Errors
///
/// A command fails, or a file cannot be written.
pub fn quick_start(groma: &Path, workspace: &Path, runs: usize) -> Result<Vec<String>, String> {
    let steps: [(&str, &[&str], &str); 3] = [
        ("plan", &["plan", "-no-color"], " (aim: 0.150 s)"),
        ("apply", &["apply", "-no-color", "-auto-approve"], " (aim: 2 s)"),
        ("no-op plan", &["plan", "-no-color"], ""),
    ];
    let mut least: Vec<Option<Cost>> = vec![None; steps.len()];
    for _ in 0..runs {
        let folder = tempfile::tempdir().map_err(|error| format!("cannot create a temporary directory: {error}"))?;
        copy(&workspace.join("examples/quickstart"), folder.path())
            .map_err(|error| format!("cannot copy the quick start: {error}"))?;
        measure(groma, &["init", "-no-color"], folder.path())?;
        for ((_, arguments, _), least) in steps.iter().zip(&mut least) {
            let cost = measure(groma, arguments, folder.path())?;
            *least = Some(least.map_or(cost, |known| known.min(cost)));
        }
    }
    let line = |((name, _, aim), cost): (&(&str, &[&str], &str), Option<Cost>)| {
        let cost = cost?;
        let (wall, cpu, peak) = (seconds(cost.wall), seconds(cost.cpu), cost.peak / 1e6);
        Some(format!("quick start, {name}: {wall} s, CPU {cpu} s, peak {peak:.0} MB{aim}"))
    };
    Ok(steps.iter().zip(least).filter_map(line).collect())
}

/// Copies the sources of a configuration, without state files and hidden directories.
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

/// Runs a measuring example of a library and returns its output.
///
/// # Errors
///
/// The example cannot be built or fails.
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
