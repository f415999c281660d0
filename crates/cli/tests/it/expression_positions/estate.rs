//! The estate that the pairs are planned and applied in.

use std::path::Path;

use serde_json::Value as Json;

use crate::common::cases::{files, line};
use crate::common::scenario::{plan_document, state_of};
use crate::common::{Folder, Ran};
use crate::generated_configurations::kit::Kit;
use crate::generated_configurations::normalize::drop_empty_resources;

/// Changes to some objects of the estate.
const PLAN: [&str; 5] = ["plan", "-var=step=2", "-input=false", "-json", "-out=p"];
const APPLY: [&str; 4] = ["apply", "-input=false", "-json", "p"];
const STATE: &str = "terraform.tfstate";

/// A folder in which everything but the pair has been applied.
pub struct Estate {
    folder: Folder,
    state: String,
}

/// The last command that a pair is led through.
#[derive(Clone, Copy)]
pub enum Last {
    Plan,
    Apply,
}

/// The result of a pair.
pub struct Outcome {
    pub planned: Ended,
    /// The plan as a document, where there is one.
    pub plan: Option<Json>,
    /// How it was applied, and the state that this left.
    pub applied: Option<(Ended, String)>,
}

/// How a command ended.
pub struct Ended {
    pub code: i32,
    /// Severity, position and summary of each problem.
    pub problems: Vec<String>,
}

impl Estate {
    pub fn applied_by(program: &Path, kit: &Kit) -> Self {
        let folder = kit.attached_in(Folder::for_program(program));
        for (path, text) in files(include_str!("estate.txt"), "main.tf") {
            folder.write(path, &text);
        }
        // A module that a pair calls has to be installed.
        folder.write("call.tf", "module \"p\" {\n  source = \"./m\"\n  count  = 0\n  in     = 1\n}\n");
        folder.ok(&["init"]);
        folder.ok(&["apply", "-auto-approve"]);
        std::fs::remove_file(folder.path("call.tf")).unwrap();
        let state = folder.read(STATE);
        Self { folder, state }
    }

    /// Leads the estate with these files added through a plan, and what comes after. It is as before afterwards.
    pub fn with(&self, files: &[(&str, String)], last: Last) -> Outcome {
        for (path, text) in files {
            self.folder.write(path, text);
        }
        let planned = Ended::of(&self.folder.run(&PLAN));
        let is_good = planned.code == 0;
        let plan = is_good.then(|| {
            let mut plan = plan_document(&self.folder.run(&["show", "-json", "p"]));
            without_words(&mut plan);
            plan
        });
        let applied = (is_good && matches!(last, Last::Apply)).then(|| {
            let ran = self.folder.run(&APPLY);
            let state = evened(&state_of(&self.folder));
            self.folder.write(STATE, &self.state);
            (Ended::of(&ran), state)
        });
        for (path, _) in files {
            std::fs::remove_file(self.folder.path(path)).unwrap();
        }
        Outcome { planned, plan, applied }
    }
}

impl Ended {
    fn of(ran: &Ran) -> Self {
        let messages = ran.out.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
        let mut problems: Vec<String> = messages.filter_map(|message| Some(line(message.get("diagnostic")?))).collect();
        problems.sort_unstable();
        problems.dedup();
        Self { code: ran.code, problems }
    }

    /// The problems, and the code last.
    pub fn lines(&self) -> Vec<String> {
        self.problems.iter().cloned().chain([format!("exit {}", self.code)]).collect()
    }
}

impl Outcome {
    /// Actions by address, and the reported problems.
    pub fn in_short(&self) -> Vec<String> {
        let mut lines = self.planned.problems.clone();
        if let Some(plan) = &self.plan {
            for change in plan["resource_changes"].as_array().into_iter().flatten() {
                let address = change["address"].as_str().unwrap_or_default();
                let is_of_pair = address.ends_with(".p") || address.contains(".p[") || address.contains(".p.");
                if is_of_pair {
                    lines.push(format!("{address}: {}", change["change"]["actions"]));
                }
            }
            let output = plan.get("output_changes").and_then(|changes| changes.get("p"));
            lines.extend(output.map(|change| format!("output p: {}", change["after"])));
        }
        lines.push(format!("exit {}", self.planned.code));
        if let Some((applied, _)) = &self.applied {
            lines.extend(applied.lines().iter().map(|line| format!("apply: {line}")));
        }
        lines
    }
}

/// The state as it can be compared.
fn evened(state: &str) -> String {
    let Ok(mut state) = serde_json::from_str::<Json>(state) else { return state.to_owned() };
    drop_empty_resources(&mut state);
    without_words(&mut state);
    format!("{state:#}\n")
}

/// The words of details are our own.
fn without_words(document: &mut Json) {
    match document {
        Json::Array(elements) => elements.iter_mut().for_each(without_words),
        Json::Object(object) => {
            object.remove("problems");
            let failures = object.get_mut("failure_messages").and_then(Json::as_array_mut);
            failures.into_iter().flatten().for_each(without_detail);
            object.values_mut().for_each(without_words);
        }
        _ => {}
    }
}

/// Where a check fails because its data cannot be read, the message has a detail.
fn without_detail(message: &mut Json) {
    let summary = message.as_str().and_then(|text| text.split_once(": "));
    if let Some((summary, _)) = summary {
        *message = summary.into();
    }
}
