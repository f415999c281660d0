//! Lives of resources, step by step: what this program tells, and, where a Terraform 1.15 is found, held against it: the
//! same texts, exit codes, plan documents and states, and each goes on from the state of the other.

use std::fmt::Write;

use serde_json::Value as Json;

use super::normalization::{first_difference, normalize, normalize_ids, terraform};
use super::{Folder, Ran};

/// A life, step by step, in this program and in Terraform.
pub struct Scenario {
    name: &'static str,
    groma: Folder,
    terraform: Option<Folder>,
    transcript: String,
    differences: Vec<(String, String)>,
    steps: usize,
    /// Intended differences, documented in docs/differences.md.
    known: Vec<&'static str>,
}

impl Scenario {
    pub fn new(name: &'static str, configuration: &str) -> Self {
        let terraform = terraform().map(|program| Folder::for_program(&program).with("TF_CLI_ARGS", "-no-color"));
        let made = Self {
            name,
            groma: Folder::new(),
            terraform,
            transcript: String::new(),
            differences: Vec::new(),
            steps: 0,
            known: Vec::new(),
        };
        made.write("main.tf", configuration);
        made.init();
        made
    }

    /// Names comparisons that fail on purpose. One that does not fail any more must leave the list.
    pub fn differs_on_purpose(&mut self, what: &[&'static str]) {
        self.known.extend(what);
    }

    /// Modules are installed anew; this program needs no init.
    pub fn init(&self) {
        if let Some(terraform) = &self.terraform {
            terraform.ok(&["init"]);
        }
    }

    pub fn write(&self, name: &str, text: &str) {
        self.groma.write(name, text);
        if let Some(terraform) = &self.terraform {
            terraform.write(name, text);
        }
    }

    pub fn change(&mut self, configuration: &str) {
        self.write("main.tf", configuration);
        self.transcript.push_str("--- the configuration changes\n");
    }

    /// Changes the state file behind the back of both.
    pub fn edit_state(&mut self, edit: impl Fn(&mut Json)) {
        for folder in [Some(&self.groma), self.terraform.as_ref()].into_iter().flatten() {
            let mut state: Json = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
            edit(&mut state);
            state["serial"] = (state["serial"].as_u64().unwrap() + 1).into();
            folder.write("terraform.tfstate", &format!("{state:#}\n"));
        }
        self.transcript.push_str("--- the state changes\n");
    }

    fn note(&mut self, what: &str, theirs: &str, ours: &str) {
        if theirs != ours {
            self.differences.push((what.to_owned(), first_difference(theirs, ours)));
        }
    }

    /// Both do the same and say the same; a plan that is kept and a state that was written are compared as well.
    pub fn run(&mut self, arguments: &[&str]) {
        let command = arguments.join(" ");
        self.steps += 1;
        let step = format!("{}. {command}", self.steps);
        let ours = self.groma.run(arguments);
        let state = state_of(&self.groma);
        let document = arguments.contains(&"-out=p").then(|| self.groma.run(&["show", "-json", "p"]));
        write!(
            self.transcript,
            "$ groma {command}\n{}\n{}exit {}\n\n",
            normalize(&ours.out),
            said(&ours.err),
            ours.code
        )
        .unwrap();
        let Some(folder) = &self.terraform else { return };
        let theirs = folder.run(arguments);
        let their_state = state_of(folder);
        let their_document = document.is_some().then(|| folder.run(&["show", "-json", "p"]));
        self.note(&step, &without_details(&theirs.out), &without_details(&ours.out));
        self.note(&format!("{step} (summaries)"), &summaries(&theirs), &summaries(&ours));
        self.note(&format!("{step} (exit code)"), &theirs.code.to_string(), &ours.code.to_string());
        self.note(&format!("{step} (state)"), &their_state, &state);
        if let (Some(ours), Some(theirs)) = (document, their_document) {
            self.note(&format!("{step} (document)"), &plan(&theirs), &plan(&ours));
        }
    }

    /// The end: what was reported is held against the record.
    pub fn end(self) {
        let (name, transcript) = self.finish();
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../snapshots");
        settings.set_prepend_module_to_snapshot(false);
        settings.bind(|| insta::assert_snapshot!(name, transcript));
    }

    /// The end: each goes on with the state of the other.
    ///
    /// What is to be recorded of it, with its name.
    fn finish(mut self) -> (&'static str, String) {
        if let Some(terraform) = &self.terraform {
            let arguments = ["plan", "-detailed-exitcode"];
            let (ours, theirs) = (self.groma.read("terraform.tfstate"), terraform.read("terraform.tfstate"));
            self.groma.write("terraform.tfstate", &theirs);
            terraform.write("terraform.tfstate", &ours);
            let (ours, theirs) = (self.groma.run(&arguments), terraform.run(&arguments));
            self.note("plan with the other's state", &without_details(&theirs.out), &without_details(&ours.out));
            self.note("plan with the other's state (exit code)", &theirs.code.to_string(), &ours.code.to_string());
        }
        let known = std::mem::take(&mut self.known);
        if self.terraform.is_some() {
            let differs = |what: &str| self.differences.iter().any(|(found, _)| found == what);
            let mended: Vec<_> = known.iter().filter(|what| !differs(what)).collect();
            assert!(mended.is_empty(), "{}: take off the list, it does not differ any more: {mended:?}", self.name);
        }
        let new = self.differences.iter().filter(|(what, _)| !known.contains(&what.as_str()));
        let new: Vec<String> = new.map(|(what, difference)| format!("{what}: {difference}")).collect();
        assert!(new.is_empty(), "{}: {}", self.name, new.join("\n\n"));
        self.transcript.push_str("--- the state\n");
        self.transcript.push_str(&state_of(&self.groma));
        (self.name, self.transcript)
    }
}

fn said(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("\n--- on standard error{}\n", normalize(text)) }
}

/// Standard output with no more than the summaries of warnings: the words of details are our own.
fn without_details(text: &str) -> String {
    let ends = |line: &str| {
        let after = [
            "─",
            "Plan:",
            "Apply ",
            "Destroy ",
            "Outputs:",
            "Note:",
            "Saved ",
            "Do you ",
            "Terraform used",
            "Terraform has",
        ];
        after.iter().any(|begin| line.starts_with(begin))
    };
    let mut kept = String::new();
    let mut in_details = false;
    for line in normalize(text).lines() {
        in_details = !ends(line) && (in_details || line.starts_with("Warning: "));
        if !in_details || line.starts_with("Warning: ") {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The summaries of all problems: the words of details are our own.
fn summaries(ran: &Ran) -> String {
    let is_summary = |line: &&str| line.starts_with("Error: ") || line.starts_with("Warning: ");
    let mut lines: Vec<&str> = ran.err.lines().filter(is_summary).collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// The state file without what must differ: ids, lineage, keys of deposed objects, and the serial, which counts writes.
/// Terraform writes results of checks in no order.
pub fn state_of(folder: &Folder) -> String {
    let Ok(text) = std::fs::read_to_string(folder.path("terraform.tfstate")) else { return "none\n".to_owned() };
    let Ok(mut state) = serde_json::from_str::<Json>(&normalize_ids(&text)) else { return text };
    state["serial"] = "SERIAL".into();
    stand_in(&mut state);
    in_any_order(&mut state["check_results"]);
    format!("{state:#}\n")
}

/// The same for lists in whatever order, at any depth.
fn in_any_order(json: &mut Json) {
    match json {
        Json::Array(elements) => {
            elements.iter_mut().for_each(in_any_order);
            elements.sort_by_key(Json::to_string);
        }
        Json::Object(object) => object.values_mut().for_each(in_any_order),
        _ => {}
    }
}

/// The same with called modules sorted: Terraform lists those of modules that repeat in no order.
fn modules_in_order(json: &mut Json) {
    match json {
        Json::Array(elements) => elements.iter_mut().for_each(modules_in_order),
        Json::Object(object) => {
            object.values_mut().for_each(modules_in_order);
            if let Some(children) = object.get_mut("child_modules").and_then(Json::as_array_mut) {
                children.sort_by_key(|child| child["address"].to_string());
            }
        }
        _ => {}
    }
}

/// A stand-in for the key of each deposed object, which is made up.
fn stand_in(json: &mut Json) {
    match json {
        Json::Array(elements) => elements.iter_mut().for_each(stand_in),
        Json::Object(object) => {
            for (name, value) in object {
                if name == "deposed" || name == "deposed_key" {
                    *value = "KEY".into();
                }
                stand_in(value);
            }
        }
        _ => {}
    }
}

/// The plan as a document, without its time. Terraform lists relevant attributes in no order.
fn plan(ran: &Ran) -> String {
    format!("{:#}", plan_document(ran))
}

/// The same as a value.
pub fn plan_document(ran: &Ran) -> Json {
    let mut json: Json = serde_json::from_str(&normalize_ids(&ran.out)).unwrap();
    json.as_object_mut().unwrap().remove("timestamp");
    if let Some(relevant) = json.get_mut("relevant_attributes").and_then(Json::as_array_mut) {
        relevant.sort_by_key(Json::to_string);
    }
    if let Some(checks) = json.get_mut("checks") {
        in_any_order(checks);
    }
    modules_in_order(&mut json);
    stand_in(&mut json);
    json
}
