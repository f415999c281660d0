//! The estate that the pairs are planned in.

use std::path::Path;

use serde_json::Value as Json;

use crate::common::Folder;
use crate::common::cases::{files, line};
use crate::common::scenario::plan_document;
use crate::made_up::kit::Kit;

/// What is planned changes some of the estate.
const PLAN: [&str; 5] = ["plan", "-var=step=2", "-input=false", "-json", "-out=p"];

/// A folder in which everything but the pair has been applied.
pub struct Estate(Folder);

/// What a plan came to.
pub struct Outcome {
    pub code: i32,
    /// Severity, place and summary of each problem.
    pub problems: Vec<String>,
    /// The plan as a document, where there is one.
    pub plan: Option<Json>,
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
        Self(folder)
    }

    /// The plan with these files added, which are gone again afterwards.
    pub fn plan(&self, files: &[(&str, String)]) -> Outcome {
        for (path, text) in files {
            self.0.write(path, text);
        }
        let ran = self.0.run(&PLAN);
        let messages = ran.out.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
        let mut problems: Vec<String> = messages.filter_map(|message| Some(line(message.get("diagnostic")?))).collect();
        problems.sort_unstable();
        problems.dedup();
        let plan = (ran.code == 0).then(|| {
            let mut plan = plan_document(&self.0.run(&["show", "-json", "p"]));
            without_words(&mut plan);
            plan
        });
        for (path, _) in files {
            std::fs::remove_file(self.0.path(path)).unwrap();
        }
        Outcome { code: ran.code, problems, plan }
    }
}

impl Outcome {
    /// What happens to what, and what is said.
    pub fn in_short(&self) -> Vec<String> {
        let mut lines = self.problems.clone();
        let changes = self.plan.as_ref().and_then(|plan| plan["resource_changes"].as_array());
        for change in changes.into_iter().flatten() {
            let address = change["address"].as_str().unwrap_or_default();
            let is_of_pair = address.ends_with(".p") || address.contains(".p[") || address.contains(".p.");
            if is_of_pair {
                lines.push(format!("{address}: {}", change["change"]["actions"]));
            }
        }
        let output = self.plan.as_ref().map(|plan| &plan["output_changes"]["p"]).filter(|change| !change.is_null());
        lines.extend(output.map(|change| format!("output p: {}", change["after"])));
        lines.push(format!("exit {}", self.code));
        lines
    }
}

/// The words of details are our own.
fn without_words(document: &mut Json) {
    match document {
        Json::Array(elements) => elements.iter_mut().for_each(without_words),
        Json::Object(object) => {
            object.remove("problems");
            object.values_mut().for_each(without_words);
        }
        _ => {}
    }
}
