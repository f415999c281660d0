//! Measurement of plan, apply and no-op plan.

use std::path::{Path, PathBuf};

use super::measure::{Cost, measure};
use super::options::{Extent, Options};
use super::shapes::Shape;

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
    let applies = size <= shape.largest_applied() || options.extent == Extent::Deep;
    let steps: &[Step] = if applies { &Step::ALL } else { &[Step::Plan] };
    let mut own: Vec<Cost> = Vec::new();
    for _ in 0..options.runs {
        let costs = run_steps(groma, shape, size, steps)?;
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
    measure(program, &["init", "-no-color"], folder)?;
    let step = |step: &Step| match step {
        Step::Plan => measure(program, &["plan", "-no-color", "-out=saved.plan"], folder),
        Step::Apply => measure(program, &["apply", "-no-color", "saved.plan"], folder),
        Step::NoOp => measure(program, &["plan", "-no-color"], folder),
    };
    steps.iter().map(step).collect()
}
