//! A whole life: configurations one after the other, and what a program makes of each.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::change::change;
use super::generate::{OTHER_STATE, module};
use super::project::{Module, Types};
use crate::common::normalization::normalize_ids;
use crate::common::random::Random;
use crate::common::scenario::{plan_document, state_of};
use crate::common::{Folder, Ran};

/// A step of a life.
#[derive(Clone, Debug)]
pub struct Step {
    /// The files as they are now.
    pub files: BTreeMap<String, String>,
    /// The command on the state before the step.
    pub command: Vec<String>,
    /// The options of the plan.
    pub options: Vec<String>,
}

/// The result of a step, without the parts that differ between any two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How the command on the state ended.
    pub command: Option<i32>,
    pub planned: Ended,
    /// The planned changes as text.
    pub reported: String,
    /// The plan as a document, where there is one.
    pub plan: Option<Json>,
    /// How its apply ended.
    pub applied: Option<Ended>,
    /// The state after it.
    pub state: Option<Json>,
}

impl Outcome {
    /// Actions by address, and the reported problems.
    pub fn in_short(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let list =
            |place: &str| self.plan.as_ref().and_then(|plan| plan.pointer(place)?.as_array()).into_iter().flatten();
        let actions = |change: &Json| -> Option<String> {
            let actions: Vec<&str> = change["actions"].as_array()?.iter().filter_map(Json::as_str).collect();
            (actions != ["no-op"]).then(|| actions.join(", "))
        };
        for change in list("/resource_changes") {
            let address = change["address"].as_str().unwrap_or_default();
            let moved = change["previous_address"].as_str().map(|from| format!(", was {from}")).unwrap_or_default();
            let action = actions(&change["change"]).or_else(|| (!moved.is_empty()).then(|| String::from("no-op")));
            lines.extend(action.map(|action| format!("{address}: {action}{moved}")));
        }
        let outputs = self.plan.as_ref().and_then(|plan| plan["output_changes"].as_object());
        for (name, change) in outputs.into_iter().flatten() {
            lines.extend(actions(change).map(|action| format!("output {name}: {action}")));
        }
        lines.extend(self.planned.summaries.iter().cloned());
        lines.push(format!("exit {}", self.planned.code));
        if let Some(applied) = &self.applied {
            lines.extend(applied.summaries.iter().map(|summary| format!("apply: {summary}")));
            lines.push(format!("apply: exit {}", applied.code));
        }
        lines
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub code: i32,
    /// The summaries of problems.
    pub summaries: Vec<String>,
}

impl Step {
    /// Whether the plan has an option that begins so.
    pub fn has(&self, option: &str) -> bool {
        self.options.iter().any(|given| given.starts_with(option))
    }

    /// Whether the plan looks at a part only, or only looks.
    pub fn is_partial(&self) -> bool {
        self.has("-target") || self.has("-refresh-only")
    }
}

impl Ended {
    /// Whether there is a problem whose summary begins so.
    pub fn says(&self, summary: &str) -> bool {
        self.summaries.iter().any(|said| said.starts_with(summary))
    }

    /// Problems whose summary begins so are passed over.
    pub fn forget(&mut self, summary: &str) {
        self.summaries.retain(|said| !said.starts_with(summary));
    }

    fn of(ran: &Ran) -> Self {
        let summary = |line: &str| {
            let line = line.trim_start_matches(['│', ' ']);
            ["Error: ", "Warning: "].iter().any(|begin| line.starts_with(begin)).then(|| line.trim_end().to_owned())
        };
        let mut summaries: Vec<String> = ran.out.lines().chain(ran.err.lines()).filter_map(summary).collect();
        summaries.sort_unstable();
        summaries.dedup();
        Self { code: ran.code, summaries }
    }
}

/// The life of that number.
pub fn life(seed: u64, types: Types) -> Vec<Step> {
    let mut random = Random::new(seed);
    let mut project = module(&mut random, 2, types);
    let mut steps = vec![Step { files: project.files(), command: Vec::new(), options: Vec::new() }];
    for _ in 0..1 + random.below(3) {
        let command = command(&mut random, &project);
        for _ in 0..1 + random.below(3) {
            change(&mut random, &mut project);
        }
        let options = options(&mut random, &project);
        let mut files = project.files();
        if let Some(import) = import(&mut random, &project) {
            *files.entry(String::from("import.tf")).or_default() = import;
        }
        steps.push(Step { files, command, options });
    }
    steps
}

/// An object that is taken over, at an address that most often has one already.
fn import(random: &mut Random, project: &Module) -> Option<String> {
    let instances = project.instances("");
    let to = random.one_of(&instances).filter(|_| random.chance(10))?;
    Some(format!("import {{\n  to = {to}\n  id = \"imported\"\n}}\n"))
}

fn command(random: &mut Random, project: &Module) -> Vec<String> {
    let instances = project.instances("");
    let Some(address) = random.one_of(&instances).filter(|_| random.chance(20)) else { return Vec::new() };
    let words: &[&str] = match random.below(5) {
        0 | 1 => &["taint"],
        2 => &["untaint"],
        _ => &["state", "rm"],
    };
    words.iter().copied().chain([address.as_str()]).map(str::to_owned).collect()
}

fn options(random: &mut Random, project: &Module) -> Vec<String> {
    let instances = project.instances("");
    let address = random.one_of(&instances).map_or("terraform_data.r0", String::as_str);
    // All instances of it, or everything in a module.
    let whole = address.split(['[']).next().unwrap_or(address);
    let option = match random.below(16) {
        0 => String::from("-destroy"),
        1 => String::from("-refresh-only"),
        2 => String::from("-refresh=false"),
        3 => format!("-target={address}"),
        4 => format!("-target={whole}"),
        5 => format!("-replace={address}"),
        6 => String::from("-var=v=2"),
        _ => return Vec::new(),
    };
    vec![option]
}

/// Leads it with the program of the folder; what came of each step.
pub fn lead(steps: &[Step], folder: &Folder) -> Vec<Outcome> {
    folder.write(OTHER_STATE.0, OTHER_STATE.1);
    let mut written = Vec::new();
    let mut outcomes = Vec::new();
    for step in steps {
        written.drain(..).for_each(|name: String| std::fs::remove_file(folder.path(&name)).unwrap());
        for (name, text) in &step.files {
            folder.write(name, text);
            written.push(name.clone());
        }
        outcomes.push(outcome(step, folder));
    }
    outcomes
}

fn outcome(step: &Step, folder: &Folder) -> Outcome {
    let run = |words: &[&str], rest: &[String]| {
        let words: Vec<&str> = words.iter().copied().chain(rest.iter().map(String::as_str)).collect();
        folder.run(&words)
    };
    // Modules have to be known; what is wrong with them is reported by the plan too.
    run(&["init", "-input=false"], &[]);
    let command = (!step.command.is_empty()).then(|| run(&[], &step.command).code);
    let ran = run(&["plan", "-input=false", "-out=p", "-detailed-exitcode"], &step.options);
    let planned = Ended::of(&ran);
    if planned.code == 1 {
        return Outcome { command, planned, reported: String::new(), plan: None, applied: None, state: None };
    }
    let plan = plan_document(&run(&["show", "-json", "p"], &[]));
    let applied = Ended::of(&run(&["apply", "-input=false", "p"], &[]));
    let state = serde_json::from_str(&state_of(folder)).ok().map(in_order);
    Outcome { command, planned, reported: reported(&ran), plan: Some(plan), applied: Some(applied), state }
}

/// The part of what is said that tells the actions and the changes of outputs.
fn reported(ran: &Ran) -> String {
    let text = normalize_ids(&ran.out);
    let begins =
        |line: &&str| !line.contains("will perform the following actions:") && !line.starts_with("Changes to Outputs:");
    let ends = |line: &&str| !line.starts_with(['─', '╷', '│']) && !line.starts_with("Warning: ");
    let lines: Vec<&str> = text.lines().skip_while(begins).take_while(ends).collect();
    lines.join("\n").replace("Groma will perform", "Terraform will perform").trim_end().to_owned()
}

/// Numbers before texts among the keys of one resource: Terraform writes them in any order.
fn in_order(mut state: Json) -> Json {
    let resources = state["resources"].as_array_mut().into_iter().flatten();
    for instances in resources.filter_map(|resource| resource["instances"].as_array_mut()) {
        instances.sort_by_key(|instance| instance["index_key"].is_string());
    }
    state
}
