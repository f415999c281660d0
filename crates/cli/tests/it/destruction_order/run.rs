//! A history as a program carries it out.

use std::collections::BTreeMap;

use groma_scripted::cloud::{EVERY, Event, Moment, Object, Operation, Outcome, Times};

use super::generate::{Fault, Step};
use super::site::{Recorded, Site};
use crate::common::Ran;

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Ended {
    pub code: i32,
    pub errors: Vec<String>,
    pub events: Vec<Event>,
    pub before: Recorded,
    pub after: Recorded,
    pub objects_before: BTreeMap<String, Object>,
    pub objects: BTreeMap<String, Object>,
}

impl Ended {
    /// Returns what the cloud refused on its own account.
    pub fn refusals(&self) -> Vec<String> {
        let refused = |event: &&Event| match &event.outcome {
            Outcome::Failed(reason) => !reason.starts_with("Injected failure"),
            _ => false,
        };
        self.events.iter().filter(refused).map(ToString::to_string).collect()
    }

    pub fn is_cycle(&self) -> bool {
        self.errors.iter().any(|error| error.starts_with("Error: Cycle"))
    }

    /// Returns the operations in their order, begins included.
    pub fn log(&self) -> String {
        self.events.iter().map(|event| format!("    {event}\n")).collect()
    }
}

/// Carries a history out; nothing for the steps in which only Groma is killed.
pub fn carry_out(steps: &[Step], site: &Site, seed: u64) -> Vec<Option<Ended>> {
    site.store.hold(seed).unwrap();
    steps.iter().map(|step| carry_out_step(step, site)).collect()
}

fn carry_out_step(step: &Step, site: &Site) -> Option<Ended> {
    write(step, site);
    site.store.forget_events().unwrap();
    let before = site.recorded();
    let objects_before = site.store.objects().unwrap();
    let options: Vec<&str> = step.options.iter().map(String::as_str).collect();
    let arguments = [&["apply", "-auto-approve", "-input=false"], &options[..]].concat();
    let ran = match &step.fault {
        Some(Fault::Killed { .. }) if site.name != "Groma" => return None,
        Some(Fault::Killed { operation, name, takes_place }) => {
            site.kill_at(&arguments, *operation, name);
            // Nobody hears of an object that is created after the kill, so the cloud would have one more than Terraform's.
            site.store.fail(Operation::Create, EVERY, Times::Always, Moment::Before).unwrap();
            if !takes_place {
                site.store.fail(*operation, name, Times::Once, Moment::Before).unwrap();
            }
            site.settle();
            Ran { code: -1, out: String::new(), err: String::new() }
        }
        Some(Fault::Fails { operation, name, moment }) => {
            site.store.fail(*operation, name, Times::Once, *moment).unwrap();
            site.run(&arguments)
        }
        None => site.run(&arguments),
    };
    site.store.heal().unwrap();
    let errors = ran.err.lines().map(|line| line.trim_start_matches(['│', ' ']));
    let errors = errors.filter(|line| line.starts_with("Error: ")).map(str::to_owned).collect();
    let (events, after) = (site.events(), site.recorded());
    Some(Ended {
        code: ran.code,
        errors,
        events,
        before,
        after,
        objects_before,
        objects: site.store.objects().unwrap(),
    })
}

fn write(step: &Step, site: &Site) {
    let files = step.program.files();
    for (name, text) in &files {
        site.folder.write(name, text);
    }
    let installed = std::fs::read_to_string(site.folder.path(".terraform/modules/modules.json")).unwrap_or_default();
    let is_installed = files.len() == 1 || installed.contains("\"m\"");
    if site.name != "Groma" && !is_installed {
        site.folder.ok(&["init", "-input=false"]);
    }
}
