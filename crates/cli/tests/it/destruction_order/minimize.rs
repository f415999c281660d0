//! Smaller histories that show the same difference.

use super::generate::Step;
use super::program::{Keys, Program, Resource};

/// How many histories are tried at most.
const TRIES: usize = 120;

/// Returns the smallest history found for which `shows` still holds.
pub fn minimize(mut steps: Vec<Step>, shows: impl Fn(&[Step]) -> bool) -> Vec<Step> {
    let mut tries = 0;
    loop {
        let mut smaller = None;
        for candidate in candidates(&steps) {
            // Each try runs the whole history in both programs.
            tries += 1;
            if tries > TRIES {
                return steps;
            }
            // The first success is taken: the next round tries to reduce it further.
            if shows(&candidate) {
                smaller = Some(candidate);
                break;
            }
        }
        match smaller {
            Some(candidate) => steps = candidate,
            None => return steps,
        }
    }
}

/// Returns histories that are smaller by one thing, those that leave out most first.
fn candidates(steps: &[Step]) -> Vec<Vec<Step>> {
    let mut found: Vec<Vec<Step>> = Vec::new();
    // Later steps are removed first, because the difference is in the last one.
    if steps.len() > 1 {
        found.push(steps[..steps.len() - 1].to_vec());
    }
    for at in (1..steps.len()).rev() {
        found.push(steps.iter().enumerate().filter(|(own, _)| *own != at).map(|(_, step)| step.clone()).collect());
    }
    let programs = |change: &dyn Fn(&mut Program)| {
        let mut steps = steps.to_vec();
        steps.iter_mut().for_each(|step| change(&mut step.program));
        steps
    };
    // The module is removed as a whole before its parts.
    if steps.iter().any(|step| step.program.module.is_some()) {
        found.push(programs(&Program::remove_module));
    }
    let labels = labels(steps);
    for label in &labels {
        found.push(programs(&|program| remove(program, label)));
    }
    for at in 0..steps.len() {
        let step = &steps[at];
        let mut changed = |change: fn(&mut Step)| {
            let mut steps = steps.to_vec();
            change(&mut steps[at]);
            found.push(steps);
        };
        if !step.options.is_empty() {
            changed(|step| step.options.clear());
        }
        if step.fault.is_some() {
            changed(|step| step.fault = None);
        }
        if !step.program.statements.is_empty() {
            changed(|step| step.program.statements.clear());
        }
    }
    // Details of resources come last, because each try saves little.
    for label in &labels {
        found.extend(plainer(steps, label));
    }
    found
}

fn labels(steps: &[Step]) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for program in steps.iter().map(|step| &step.program) {
        let inner = program.module.iter().flat_map(|module| &module.resources);
        labels.extend(program.resources.iter().chain(inner).map(|one| one.label.clone()));
    }
    labels.sort_unstable();
    labels.dedup();
    labels
}

fn remove(program: &mut Program, label: &str) {
    let name = program.resources.iter().find(|one| one.label == label).map(|one| one.name.clone());
    name.into_iter().for_each(|name| program.remove(&name));
    if let Some(module) = &mut program.module
        // The output of the module needs at least one resource.
        && module.resources.len() > 1
    {
        module.resources.retain(|one| one.label != label);
    }
}

/// Returns histories in which a resource says less, in all programs alike.
fn plainer(steps: &[Step], label: &str) -> Vec<Vec<Step>> {
    let changes: [fn(&mut Resource); 6] = [
        |one| one.uses.clear(),
        |one| drop(one.uses.pop()),
        |one| {
            if one.uses.len() > 1 {
                one.uses.remove(0);
            }
        },
        |one| one.keys = Keys::Single,
        |one| one.create_before_destroy = None,
        |one| one.events = None,
    ];
    let mut found = Vec::new();
    for change in changes {
        let mut steps_changed = steps.to_vec();
        for program in steps_changed.iter_mut().map(|step| &mut step.program) {
            let inner = program.module.iter_mut().flat_map(|module| &mut module.resources);
            program.resources.iter_mut().chain(inner).filter(|one| one.label == label).for_each(change);
        }
        // A change that changes nothing would be tried forever.
        if text(&steps_changed) != text(steps) {
            found.push(steps_changed);
        }
    }
    found
}

/// Returns a history as text, for a person who carries it out by hand.
pub fn text(steps: &[Step]) -> String {
    let mut text = String::new();
    for (at, step) in steps.iter().enumerate() {
        text.push_str(&format!("=== step {at}: apply {} {:?}\n", step.options.join(" "), step.fault));
        for (name, content) in step.program.files() {
            // The requirements are the same in every file, so they are left out for the reader.
            let content = content.strip_prefix(super::script::REQUIREMENTS).unwrap_or(&content).to_owned();
            text.push_str(&format!("--- {name}\n{content}"));
        }
    }
    text
}
