//! Measurement of commands: plan, apply and no-op plan, program start, and the quick start example.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::measure::{Cost, measure};
use super::options::{Extent, Options};
use super::shapes::Shape;
use super::table::seconds;

/// A measured command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `plan -out` with an empty state.
    Plan,
    /// `apply` of the saved plan.
    Apply,
    /// `plan` without any changes.
    NoOp,
}

impl Step {
    /// All steps in the order in which they run.
    pub const ALL: [Self; 3] = [Self::Plan, Self::Apply, Self::NoOp];

    /// Returns the name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Apply => "apply",
            Self::NoOp => "no-op plan",
        }
    }
}

/// A table row: one step of one configuration.
#[derive(Debug)]
pub struct Measured {
    pub shape: Shape,
    /// The number of instances.
    pub size: usize,
    pub step: Step,
    /// The minimum cost of several runs.
    pub own: Cost,
    /// The cost of a single run of Terraform, if it was measured.
    pub peer: Option<Cost>,
}

/// Measures all steps of one shape and size.
///
/// # Errors
///
/// A command fails, or a file cannot be written.
pub fn measure_shape(
    groma: &Path,
    peer: Option<&PathBuf>,
    options: &Options,
    shape: Shape,
    size: usize,
) -> Result<Vec<Measured>, String> {
    // Plans scale further than applies: the largest sizes are applied only on request, as that takes minutes.
    let applies = size <= shape.largest_applied() || options.extent == Extent::Deep;
    let steps: &[Step] = if applies { &Step::ALL } else { &[Step::Plan] };
    let mut own: Vec<Cost> = Vec::new();
    for _ in 0..options.runs {
        let costs = run_steps(groma, shape, size, steps)?;
        // The minimum of each step over all runs: other programs on the machine only ever add time.
        own = match own.is_empty() {
            true => costs,
            false => own.into_iter().zip(costs).map(|(one, other)| one.min(other)).collect(),
        };
    }
    let peer = match peer.filter(|_| options.peer_sizes.contains(&size)) {
        Some(program) => run_steps(program, shape, size, steps)?.into_iter().map(Some).collect(),
        None => vec![None; steps.len()],
    };
    let rows = steps.iter().zip(own).zip(peer);
    Ok(rows.map(|((step, own), peer)| Measured { shape, size, step: *step, own, peer }).collect())
}

/// Runs `steps` in a new working directory and returns their costs.
fn run_steps(program: &Path, shape: Shape, size: usize, steps: &[Step]) -> Result<Vec<Cost>, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("cannot create a temporary directory: {error}"))?;
    let folder = folder.path();
    shape.write(folder, size).map_err(|error| format!("cannot write to {}: {error}", folder.display()))?;
    // `init` is not measured: it depends on the network more than on the program.
    measure(program, &["init", "-no-color"], folder)?;
    let step = |step: &Step| match step {
        Step::Plan => measure(program, &["plan", "-no-color", "-out=saved.plan"], folder),
        Step::Apply => measure(program, &["apply", "-no-color", "saved.plan"], folder),
        Step::NoOp => measure(program, &["plan", "-no-color"], folder),
    };
    steps.iter().map(step).collect()
}

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
    // Milliseconds: a start takes a few of them.
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
        // A new copy for each run, because the apply leaves a state behind.
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
            // Without the state of an earlier run by hand, which would turn the plan into a no-op plan.
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
