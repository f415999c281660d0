//! Lives of `terraform_data`, step by step: recorded as this program tells them, and, where a Terraform 1.15 is found, held
//! against it: the same texts, exit codes, plan documents and states, and each goes on from the state of the other.
//!
//! `INSTA_UPDATE=always` records anew.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::fmt::Write;

use common::even::{even, even_ids, first_difference, terraform};
use common::{Folder, Ran};
use serde_json::Value as Json;

struct Scenario {
    name: &'static str,
    groma: Folder,
    terraform: Option<Folder>,
    transcript: String,
    differences: Vec<(String, String)>,
    steps: usize,
    /// What differs on purpose, as docs/differences.md tells.
    known: Vec<&'static str>,
}

impl Scenario {
    fn new(name: &'static str, configuration: &str) -> Self {
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
    fn differs_on_purpose(&mut self, what: &[&'static str]) {
        self.known.extend(what);
    }

    /// Modules are installed anew; this program needs no init.
    fn init(&self) {
        if let Some(terraform) = &self.terraform {
            terraform.ok(&["init"]);
        }
    }

    fn write(&self, name: &str, text: &str) {
        self.groma.write(name, text);
        if let Some(terraform) = &self.terraform {
            terraform.write(name, text);
        }
    }

    fn change(&mut self, configuration: &str) {
        self.write("main.tf", configuration);
        self.transcript.push_str("--- the configuration changes\n");
    }

    /// Changes the state file behind the back of both.
    fn edit_state(&mut self, edit: impl Fn(&mut Json)) {
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
    fn run(&mut self, arguments: &[&str]) {
        let command = arguments.join(" ");
        self.steps += 1;
        let step = format!("{}. {command}", self.steps);
        let ours = self.groma.run(arguments);
        let state = state(&self.groma);
        let document = arguments.contains(&"-out=p").then(|| self.groma.run(&["show", "-json", "p"]));
        write!(self.transcript, "$ groma {command}\n{}\n{}exit {}\n\n", even(&ours.out), said(&ours.err), ours.code)
            .unwrap();
        let Some(folder) = &self.terraform else { return };
        let theirs = folder.run(arguments);
        let their_state = crate::state(folder);
        let their_document = document.is_some().then(|| folder.run(&["show", "-json", "p"]));
        self.note(&step, &without_details(&theirs.out), &without_details(&ours.out));
        self.note(&format!("{step} (summaries)"), &summaries(&theirs), &summaries(&ours));
        self.note(&format!("{step} (exit code)"), &theirs.code.to_string(), &ours.code.to_string());
        self.note(&format!("{step} (state)"), &their_state, &state);
        if let (Some(ours), Some(theirs)) = (document, their_document) {
            self.note(&format!("{step} (document)"), &plan(&theirs), &plan(&ours));
        }
    }

    /// The end: each goes on with the state of the other.
    fn end(mut self) {
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
        self.transcript.push_str(&state(&self.groma));
        insta::assert_snapshot!(self.name, self.transcript);
    }
}

fn said(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("\n--- on standard error{}\n", even(text)) }
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
    for line in even(text).lines() {
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
fn state(folder: &Folder) -> String {
    let Ok(text) = std::fs::read_to_string(folder.path("terraform.tfstate")) else { return "none\n".to_owned() };
    let Ok(mut state) = serde_json::from_str::<Json>(&even_ids(&text)) else { return text };
    state["serial"] = "SERIAL".into();
    stand_in(&mut state);
    if let Some(checks) = state["check_results"].as_array_mut() {
        checks.sort_by_key(Json::to_string);
    }
    format!("{state:#}\n")
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
    let mut json: Json = serde_json::from_str(&even_ids(&ran.out)).unwrap();
    json.as_object_mut().unwrap().remove("timestamp");
    if let Some(relevant) = json.get_mut("relevant_attributes").and_then(Json::as_array_mut) {
        relevant.sort_by_key(Json::to_string);
    }
    stand_in(&mut json);
    format!("{json:#}")
}

const PLAN: &[&str] = &["plan", "-out=p"];
const APPLY: &[&str] = &["apply", "-auto-approve"];
const NOTHING: &[&str] = &["plan", "-detailed-exitcode"];
const DESTROY: &[&str] = &["destroy", "-auto-approve"];

#[test]
fn create_update_and_destroy() {
    let mut life =
        Scenario::new("create_update_destroy", "resource \"terraform_data\" \"a\" {\n  input = \"one\"\n}\n");
    life.run(NOTHING);
    life.run(PLAN);
    life.run(&["apply", "p"]);
    life.run(NOTHING);
    life.change("resource \"terraform_data\" \"a\" {\n  input = { name = \"two\", list = [1, 2.5, true] }\n}\n");
    life.run(PLAN);
    life.run(&["apply", "p"]);
    life.run(&["apply", "p"]);
    life.change("resource \"terraform_data\" \"a\" {\n}\n");
    life.run(APPLY);
    life.run(&["plan", "-destroy", "-out=p"]);
    life.run(DESTROY);
    life.run(DESTROY);
    life.end();
}

fn replaced(trigger: &str, lifecycle: &str) -> String {
    format!(
        r#"
resource "terraform_data" "first" {{
  input            = "{trigger}"
  triggers_replace = ["{trigger}", 2]
{lifecycle}
}}

resource "terraform_data" "second" {{
  input = terraform_data.first.id
}}

resource "terraform_data" "third" {{
  triggers_replace = terraform_data.first.id
}}

output "first" {{
  value = terraform_data.first.id
}}
"#
    )
}

#[test]
fn replacement_destroys_first() {
    let mut life = Scenario::new("replace", &replaced("one", ""));
    life.run(PLAN);
    life.run(APPLY);
    life.change(&replaced("two", ""));
    life.run(PLAN);
    life.run(&["apply", "p"]);
    life.run(NOTHING);
    life.end();
}

#[test]
fn replacement_creates_first() {
    let first = "  lifecycle {\n    create_before_destroy = true\n  }";
    let mut life = Scenario::new("create_before_destroy", &replaced("one", first));
    life.run(APPLY);
    life.change(&replaced("two", first));
    life.run(PLAN);
    life.run(&["apply", "p"]);
    life.run(NOTHING);
    life.run(DESTROY);
    life.end();
}

#[test]
fn a_run_that_fails_between_the_two_steps_leaves_a_deposed_object() {
    let with = |trigger: &str, refused: &str| {
        format!(
            r#"
resource "terraform_data" "first" {{
  triggers_replace = "{trigger}"
  lifecycle {{
    create_before_destroy = true
  }}
}}

resource "terraform_data" "second" {{
  input = terraform_data.first.id
  lifecycle {{
    precondition {{
      condition     = "{refused}" == "" || terraform_data.first.id == ""
      error_message = "Not with this one."
    }}
  }}
}}
"#
        )
    };
    let mut life = Scenario::new("deposed", &with("one", ""));
    life.run(APPLY);
    life.change(&with("two", "yes"));
    life.run(PLAN);
    life.run(&["apply", "p"]);
    life.change(&with("two", ""));
    life.run(PLAN);
    life.run(&["apply", "p"]);
    life.run(NOTHING);
    life.end();
}

#[test]
fn instances_come_and_go() {
    let mut life = Scenario::new(
        "count_and_for_each",
        r#"
resource "terraform_data" "counted" {
  count = 3
  input = count.index
}

resource "terraform_data" "each" {
  for_each = { a = "A", "b c" = "B" }
  input    = each.value
}

resource "terraform_data" "single" {
}

resource "terraform_data" "user" {
  input = [terraform_data.counted[*].id, values(terraform_data.each)[*].input]
}
"#,
    );
    life.run(PLAN);
    life.run(APPLY);
    life.change(
        r#"
resource "terraform_data" "counted" {
  count = 1
  input = count.index
}

resource "terraform_data" "each" {
  for_each = toset(["a", "d"])
  input    = each.key
}

resource "terraform_data" "single" {
  count = 2
}

resource "terraform_data" "user" {
  input = [terraform_data.counted[*].id, values(terraform_data.each)[*].input]
}
"#,
    );
    life.run(PLAN);
    life.run(&["apply", "p"]);
    life.run(NOTHING);
    life.end();
}

const CHILD: &str = r#"
variable "name" {
  type = string
}

resource "terraform_data" "inner" {
  input = var.name
}

output "id" {
  value = terraform_data.inner.id
}

output "name" {
  value = upper(terraform_data.inner.output)
}
"#;

#[test]
fn modules_with_instances() {
    let with = |names: &str| {
        format!(
            r#"
module "single" {{
  source = "./child"
  name   = "s"
}}

module "each" {{
  source   = "./child"
  for_each = toset({names})
  name     = "${{each.key}}-${{module.single.name}}"
}}

resource "terraform_data" "user" {{
  input      = {{ for key, child in module.each : key => child.name }}
  depends_on = [module.single]
}}

output "ids" {{
  value = module.each["a"].id
}}
"#
        )
    };
    let mut life = Scenario::new("modules", "");
    life.write("child/main.tf", CHILD);
    life.change(&with("[\"a\", \"b\"]"));
    life.init();
    life.run(PLAN);
    life.run(APPLY);
    life.run(&["state", "list"]);
    life.run(&["show"]);
    life.change(&with("[\"a\", \"c\"]"));
    life.run(PLAN);
    life.run(APPLY);
    life.run(NOTHING);
    life.run(DESTROY);
    life.end();
}

#[test]
fn moved_blocks_rename() {
    let mut life = Scenario::new(
        "moved",
        "resource \"terraform_data\" \"a\" {\n  input = 1\n}\nresource \"terraform_data\" \"list\" {\n  count = 2\n}\n",
    );
    life.run(APPLY);
    life.write("child/main.tf", "resource \"terraform_data\" \"inner\" {\n  input = 2\n}\n");
    life.change(
        r#"
module "m" {
  source = "./child"
}

resource "terraform_data" "map" {
  for_each = toset(["zero", "one"])
}

moved {
  from = terraform_data.a
  to   = module.m.terraform_data.inner
}

moved {
  from = terraform_data.list[0]
  to   = terraform_data.map["zero"]
}

moved {
  from = terraform_data.list[1]
  to   = terraform_data.map["one"]
}
"#,
    );
    life.init();
    life.run(PLAN);
    life.run(&["apply", "p"]);
    life.run(NOTHING);
    life.end();
}

#[test]
fn removed_blocks_forget_or_destroy() {
    let mut life = Scenario::new(
        "removed",
        "resource \"terraform_data\" \"kept\" {\n}\nresource \"terraform_data\" \"gone\" {\n}\n\
         resource \"terraform_data\" \"stays\" {\n}\n",
    );
    life.run(APPLY);
    life.change(
        r#"
resource "terraform_data" "stays" {
}

removed {
  from = terraform_data.kept
  lifecycle {
    destroy = false
  }
}

removed {
  from = terraform_data.gone
  lifecycle {
    destroy = true
  }
}
"#,
    );
    life.run(PLAN);
    life.run(&["apply", "p"]);
    life.run(NOTHING);
    life.end();
}

#[test]
fn outputs_alone() {
    let mut life = Scenario::new(
        "outputs",
        r#"
variable "secret" {
  sensitive = true
  default   = "hush"
}

output "text" {
  value = "one"
}

output "object" {
  value = { a = [1, 2], b = { c = true } }
}

output "secret" {
  value     = { inner = var.secret }
  sensitive = true
}

output "goes" {
  value = "soon"
}
"#,
    );
    life.run(PLAN);
    life.run(APPLY);
    life.run(&["output"]);
    life.run(&["output", "-json"]);
    life.run(&["output", "-raw", "text"]);
    life.run(&["output", "missing"]);
    life.change(
        r#"
output "text" {
  value = "two"
}

output "object" {
  value = { a = [1, 3], b = { c = true }, d = null }
}

output "secret" {
  value = "no secret"
}

output "new" {
  value = "new"
}
"#,
    );
    life.run(PLAN);
    life.run(APPLY);
    life.run(&["output"]);
    life.run(NOTHING);
    life.end();
}

#[test]
fn targets_and_replacements_on_request() {
    let mut life = Scenario::new(
        "target_and_replace",
        r#"
resource "terraform_data" "a" {
  input = 1
}

resource "terraform_data" "b" {
  input = terraform_data.a.id
}

resource "terraform_data" "c" {
  count = 2
  input = terraform_data.b.id
}
"#,
    );
    life.run(&["plan", "-target=terraform_data.b", "-out=p"]);
    life.run(&["apply", "p"]);
    life.run(APPLY);
    life.run(&["plan", "-replace=terraform_data.c[1]", "-out=p"]);
    life.run(&["apply", "p"]);
    life.run(&["plan", "-replace=terraform_data.a", "-out=p"]);
    life.run(&["plan", "-replace=terraform_data.nosuch"]);
    // A slip is told.
    life.differs_on_purpose(&["7. plan -replace=terraform_data.nosuch"]);
    life.end();
}

#[test]
fn what_depends_on_a_target_is_destroyed_with_it() {
    let mut life = Scenario::new(
        "target_and_destroy",
        r#"
resource "terraform_data" "a" {
  input = 1
}

resource "terraform_data" "b" {
  input = terraform_data.a.id
}

resource "terraform_data" "c" {
  count = 2
  input = terraform_data.b.id
}
"#,
    );
    life.run(APPLY);
    life.run(&["plan", "-destroy", "-target=terraform_data.b", "-out=p"]);
    life.run(&["apply", "p"]);
    life.run(NOTHING);
    life.end();
}

#[test]
fn pl_05_tainted_objects_are_replaced() {
    let mut life = Scenario::new("tainted", "resource \"terraform_data\" \"a\" {\n  input = \"x\"\n}\n");
    life.run(APPLY);
    life.edit_state(|state| {
        let instance = state["resources"][0]["instances"][0].as_object_mut().unwrap();
        instance.insert("status".to_owned(), "tainted".into());
    });
    life.run(&["show"]);
    life.run(PLAN);
    life.run(&["apply", "p"]);
    life.run(NOTHING);
    life.end();
}

#[test]
fn refreshing_only() {
    let mut life = Scenario::new(
        "refresh_only",
        "resource \"terraform_data\" \"a\" {\n  input = 1\n}\noutput \"o\" {\n  value = terraform_data.a.output\n}\n",
    );
    life.run(APPLY);
    life.run(&["plan", "-refresh-only", "-out=p"]);
    life.change("resource \"terraform_data\" \"a\" {\n  input = 1\n}\noutput \"o\" {\n  value = \"other\"\n}\n");
    life.run(&["plan", "-refresh-only", "-out=p"]);
    life.run(&["apply", "p"]);
    life.run(&["plan", "-refresh=false"]);
    life.run(&["apply", "-refresh-only", "-auto-approve"]);
    life.end();
}

#[test]
fn checks_and_conditions() {
    let with = |limit: u32| {
        format!(
            r#"
variable "size" {{
  type    = number
  default = 3
  validation {{
    condition     = var.size < 100
    error_message = "The size ${{var.size}} is too large."
  }}
}}

resource "terraform_data" "a" {{
  input = var.size
  lifecycle {{
    precondition {{
      condition     = var.size < {limit}
      error_message = "Too large for a."
    }}
    postcondition {{
      condition     = self.output < 20
      error_message = "The output ${{self.output}} is not below 20."
    }}
  }}
}}

output "size" {{
  value = terraform_data.a.output
  precondition {{
    condition     = terraform_data.a.output != 7
    error_message = "Not seven."
  }}
}}

check "small" {{
  assert {{
    condition     = terraform_data.a.output < 5
    error_message = "It has grown to ${{terraform_data.a.output}}."
  }}
}}
"#
        )
    };
    let mut life = Scenario::new("checks", &with(50));
    life.run(PLAN);
    life.run(&["apply", "p"]);
    life.run(&["plan", "-var=size=6", "-out=p"]);
    life.run(&["apply", "p"]);
    life.run(&["apply", "-auto-approve", "-var=size=6"]);
    life.run(&["plan", "-var=size=200"]);
    life.run(&["plan", "-var=size=60"]);
    life.run(&["apply", "-auto-approve", "-var=size=30"]);
    life.run(&["plan", "-var=size=7"]);
    life.run(&["show"]);
    life.end();
}

#[test]
fn secrets_and_unknown_values() {
    let with = |secret: &str, sensitive: bool| {
        format!(
            r#"
variable "password" {{
  type      = string
  default   = "{secret}"
  sensitive = {sensitive}
}}

resource "terraform_data" "secret" {{
  input            = {{ user = "u", password = var.password, list = ["a", var.password] }}
  triggers_replace = var.password
}}

resource "terraform_data" "derived" {{
  input = {{
    known   = "k"
    unknown = terraform_data.secret.id
    text    = "id ${{terraform_data.secret.id}}"
    list    = [1, terraform_data.secret.id]
    output  = terraform_data.secret.output
    json    = jsonencode({{ id = terraform_data.secret.id, n = 1 }})
  }}
}}

output "derived" {{
  value     = terraform_data.derived.output
  sensitive = true
}}
"#
        )
    };
    let mut life = Scenario::new("secrets_and_unknowns", &with("one", true));
    life.run(PLAN);
    life.run(&["apply", "p"]);
    life.run(&["show"]);
    life.change(&with("two", true));
    life.run(PLAN);
    life.run(&["apply", "p"]);
    life.change(&with("two", false));
    life.run(PLAN);
    life.run(APPLY);
    life.run(NOTHING);
    life.end();
}

#[test]
fn ignored_and_protected() {
    let with = |value: &str, protected: bool| {
        format!(
            r#"
resource "terraform_data" "ignoring" {{
  input            = "{value}"
  triggers_replace = "{value}"
  lifecycle {{
    ignore_changes = [input]
  }}
}}

resource "terraform_data" "all" {{
  input = "{value}"
  lifecycle {{
    ignore_changes = all
  }}
}}

resource "terraform_data" "follower" {{
  input = 1
  lifecycle {{
    replace_triggered_by = [terraform_data.ignoring]
  }}
}}

resource "terraform_data" "protected" {{
  triggers_replace = "same"
  lifecycle {{
    prevent_destroy = {protected}
  }}
}}
"#
        )
    };
    let mut life = Scenario::new("ignored_and_protected", &with("one", true));
    life.run(APPLY);
    life.change(&with("two", true));
    life.run(PLAN);
    life.run(APPLY);
    life.run(&["plan", "-destroy"]);
    life.run(&["plan", "-replace=terraform_data.protected"]);
    life.change(&with("two", false));
    life.run(DESTROY);
    life.end();
}
