//! Plan, apply and plan again, measured.

use std::path::{Path, PathBuf};

use super::measure::{Cost, measure};
use super::options::{Extent, Options};
use super::shapes::Shape;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `plan -out` where nothing exists.
    Plan,
    /// `apply` of that plan.
    Apply,
    /// `plan` where nothing is to be done.
    NoOp,
}

impl Step {
    /// All, in the order in which they happen.
    pub const ALL: [Self; 3] = [Self::Plan, Self::Apply, Self::NoOp];

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Apply => "apply",
            Self::NoOp => "no-op plan",
        }
    }
}

/// One row: a step of a configuration.
#[derive(Debug)]
pub struct Measured {
    /// The shape of the configuration.
    pub shape: Shape,
    /// Its number of instances.
    pub size: usize,
    /// The step.
    pub step: Step,
    /// The least cost of several runs.
    pub own: Cost,
    /// What Terraform's one run cost, where it was measured.
    pub peer: Option<Cost>,
}

/// Measures one shape in one size.
///
/// # Errors
///
/// A command fails, or the disk does.
pub fn measured(
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
        let costs = story(groma, shape, size, steps)?;
        own = match own.is_empty() {
            true => costs,
            false => own.into_iter().zip(costs).map(|(one, other)| one.least(other)).collect(),
        };
    }
    let peer = match peer.filter(|_| options.peer_sizes.contains(&size)) {
        Some(program) => story(program, shape, size, steps)?.into_iter().map(Some).collect(),
        None => vec![None; steps.len()],
    };
    let rows = steps.iter().zip(own).zip(peer);
    Ok(rows.map(|((step, own), peer)| Measured { shape, size, step: *step, own, peer }).collect())
}

/// The costs of `steps` in a folder of their own.
fn story(program: &Path, shape: Shape, size: usize, steps: &[Step]) -> Result<Vec<Cost>, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("cannot make a temporary folder: {error}"))?;
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
