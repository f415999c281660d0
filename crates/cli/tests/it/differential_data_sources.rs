//! Data sources in check blocks, during destroy and during apply: recorded, and compared with Terraform 1.15 if it is
//! available.
//!
//! `INSTA_UPDATE=always` records anew.

use crate::common::Folder;
use crate::common::normalization::terraform;
use crate::common::scenario::Scenario;

const PLAN: &[&str] = &["plan", "-out=p"];
const APPLY: &[&str] = &["apply", "-auto-approve"];
const SAVED: &[&str] = &["apply", "p"];
const CHANGES: &[&str] = &["plan", "-detailed-exitcode"];
const DESTROY: &[&str] = &["destroy", "-auto-approve"];

const CHECKED: &str = r#"
variable "food" {
  default = "meat"
}

resource "terraform_data" "lion" {
  input = var.food
}

check "keeper" {
  data "terraform_remote_state" "keeper" {
    backend = "local"
    config = {
      path = "keeper.tfstate"
    }
  }
  assert {
    condition     = data.terraform_remote_state.keeper.outputs.name == "Leo"
    error_message = "The keeper is ${data.terraform_remote_state.keeper.outputs.name}."
  }
}
"#;

/// The state of another configuration, with an output `name`.
fn keeper(name: &str) -> String {
    format!(
        r#"{{"version": 4, "terraform_version": "1.15.5", "serial": 1, "lineage": "0b8e3c1a-7d52-4a56-9f0e-3c5d2b9a1e77",
        "outputs": {{"name": {{"value": "{name}", "type": "string"}}}}, "resources": [], "check_results": null}}"#
    )
}

#[test]
fn data_of_a_check_is_read_again_during_apply_without_stopping_it() {
    let mut scenario = Scenario::new("data_of_checks", CHECKED);
    scenario.write("keeper.tfstate", &keeper("Leo"));
    scenario.run(&["validate"]);
    scenario.run(PLAN);
    scenario.run(SAVED);
    scenario.run(CHANGES);
    // The data source is read again in each apply, even if nothing else changes.
    scenario.run(APPLY);
    scenario.write("keeper.tfstate", &keeper("Max"));
    scenario.run(PLAN);
    scenario.run(SAVED);
    // The check fails with its new result, but does not stop the change.
    scenario.run(&["apply", "-auto-approve", "-var=food=fish"]);
    scenario.run(DESTROY);
    scenario.end();
}

#[test]
fn unreadable_data_of_a_check_is_a_failed_check() {
    let folder = Folder::new();
    folder.write("main.tf", CHECKED);
    let document =
        |name: &str| -> serde_json::Value { serde_json::from_str(&folder.ok(&["show", "-json", name])).unwrap() };
    let reported = folder.ok(PLAN);
    assert!(reported.contains("Warning: Unable to find remote state"), "{reported}");
    assert!(reported.contains("# (config will be reloaded to verify a check block)"), "{reported}");
    assert!(!reported.contains("known after apply; ") && !reported.contains("Check block assertion"), "{reported}");
    let plan = document("p");
    let check = &plan["checks"][0]["instances"][0];
    assert_eq!(check["status"], "fail");
    assert!(check["problems"][0]["message"].as_str().unwrap().starts_with("Unable to find remote state: "), "{check}");
    let read = &plan["resource_changes"][0];
    assert_eq!(
        (&read["action_reason"], &read["change"]["actions"][0]),
        (&"read_because_check_nested".into(), &"read".into())
    );
    assert_eq!(read["change"]["after_unknown"]["outputs"], true);
    // By the time of apply it is there.
    folder.write("keeper.tfstate", &keeper("Leo"));
    let reported = folder.ok(SAVED);
    assert!(!reported.contains("Warning"), "{reported}");
    let created = reported.find("terraform_data.lion: Creation complete").unwrap();
    let read = reported.find("data.terraform_remote_state.keeper: Reading...").unwrap();
    assert!(created < read, "the check is about what apply has made\n{reported}");
    let state: serde_json::Value = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
    assert_eq!(state["check_results"][0]["status"], "pass");
}

#[test]
fn data_read_during_apply_is_not_in_the_prior_state() {
    let configuration = r#"
        variable "food" {
          default = "meat"
        }

        resource "terraform_data" "lion" {
          input = var.food
        }

        data "terraform_remote_state" "keeper" {
          backend = "local"
          config = {
            path = terraform_data.lion.output == "meat" ? "keeper.tfstate" : "./keeper.tfstate"
          }
        }
    "#;
    let mut scenario = Scenario::new("data_read_again", configuration);
    scenario.write("keeper.tfstate", &keeper("Leo"));
    scenario.run(APPLY);
    scenario.run(&["plan", "-out=p", "-var=food=fish"]);
    scenario.run(SAVED);
    scenario.end();
}

const REMAINING: &str = r#"
resource "terraform_data" "lion" {
  input = "meat"
}

data "terraform_remote_state" "keeper" {
  backend = "local"
  config = {
    path = "keeper.tfstate"
  }
}

output "keeper" {
  value = data.terraform_remote_state.keeper.outputs.name
}
"#;

#[test]
fn destroying_reads_data_sources() {
    let mut scenario = Scenario::new("destroying_reads_data", REMAINING);
    scenario.write("keeper.tfstate", &keeper("Leo"));
    scenario.run(APPLY);
    scenario.run(&["plan", "-destroy"]);
    // Without a refresh, the stored result has to do.
    scenario.run(&["plan", "-destroy", "-refresh=false"]);
    scenario.run(DESTROY);
    scenario.end();
}

const STOOD_ON: &str = r#"
data "terraform_remote_state" "keeper" {
  backend = "local"
  config = {
    path = "keeper.tfstate"
  }
}

data "terraform_remote_state" "beside" {
  count   = 2
  backend = "local"
  config = {
    path = terraform_data.free.output
  }
}

resource "terraform_data" "held" {
  input = data.terraform_remote_state.keeper.outputs.name

  provisioner "local-exec" {
    when    = destroy
    command = "exit 7"
  }
}

resource "terraform_data" "free" {
  input      = "keeper.tfstate"
  depends_on = [terraform_data.held]
}

output "keeper" {
  value = data.terraform_remote_state.keeper.outputs.name
}
"#;

#[test]
fn data_source_is_removed_unless_a_remaining_object_depends_on_it() {
    let mut scenario = Scenario::new("data_removed", STOOD_ON);
    scenario.write("keeper.tfstate", &keeper("Leo"));
    scenario.run(APPLY);
    // Only the data source that depends on the target goes with it.
    scenario.run(&["plan", "-destroy", "-target=terraform_data.free", "-out=p"]);
    scenario.run(&["plan", "-destroy", "-out=p"]);
    scenario.run(SAVED);
    scenario.run(&["state", "list"]);
    scenario.run(&["output"]);
    scenario.change(&STOOD_ON.replace("exit 7", "exit 0"));
    scenario.run(APPLY);
    scenario.run(&["destroy", "-auto-approve", "-target=terraform_data.free"]);
    scenario.run(&["state", "list"]);
    // A data source may be a target as well.
    scenario.run(&["destroy", "-auto-approve", "-target=data.terraform_remote_state.beside"]);
    scenario.run(DESTROY);
    scenario.run(&["state", "list"]);
    scenario.end();
}

#[test]
fn destroy_plan_document_contains_data_sources() {
    let folder = Folder::new();
    folder.write("main.tf", REMAINING).write("keeper.tfstate", &keeper("Leo"));
    folder.ok(APPLY);
    folder.ok(&["plan", "-destroy", "-out=p"]);
    let document: serde_json::Value = serde_json::from_str(&folder.ok(&["show", "-json", "p"])).unwrap();
    let resources = document["prior_state"]["values"]["root_module"]["resources"].as_array().unwrap();
    let addresses: Vec<_> = resources.iter().map(|one| one["address"].as_str().unwrap()).collect();
    assert_eq!(addresses, ["data.terraform_remote_state.keeper", "terraform_data.lion"]);
}

#[test]
fn saved_destroy_plan_configures_providers_from_data_sources() {
    let folder = Folder::new();
    let main = r#"
        terraform {
          required_providers {
            awscc = { source = "hashicorp/awscc" }
          }
        }
        data "terraform_remote_state" "keeper" {
          backend = "local"
          config = {
            path = "keeper.tfstate"
          }
        }
        provider "awscc" {
          region   = "eu-west-1"
          emulator = { path = "./${data.terraform_remote_state.keeper.outputs.name}.json" }
        }
        resource "awscc_sqs_queue" "it" {
          queue_name = "it"
        }
    "#;
    folder.write("main.tf", main).write("keeper.tfstate", &keeper("Leo"));
    folder.ok(APPLY);
    // The emulator's file is named by the data source, so the provider was configured with it.
    assert!(folder.ok(&["emulator", "list", "-data=Leo.json"]).contains("AWS::SQS::Queue"));
    folder.ok(&["plan", "-destroy", "-out=p"]);
    folder.ok(SAVED);
    assert!(!folder.ok(&["emulator", "list", "-data=Leo.json"]).contains("AWS::SQS::Queue"));
}

/// A queue in an emulator that the last of `n` data sources tells of.
const NUMBERED: &str = r#"
variable "n" {
  type    = number
  default = 1
}

terraform {
  required_providers {
    awscc = { source = "hashicorp/awscc" }
  }
}

data "terraform_remote_state" "keeper" {
  count   = var.n
  backend = "local"
  config = {
    path = "keeper.tfstate"
  }
}

provider "awscc" {
  region   = "eu-west-1"
  emulator = { path = "./${data.terraform_remote_state.keeper[var.n - 1].outputs.name}.json" }
}

resource "awscc_sqs_queue" "it" {
  queue_name = "it"
}
"#;

/// Expects the operations of Terraform 1.15 with the same provider as a plugin.
#[test]
fn destroy_reads_configured_instances_of_data_for_providers() {
    let folder = Folder::new();
    folder.write("main.tf", NUMBERED).write("keeper.tfstate", &keeper("Leo"));
    folder.ok(APPLY);
    let reads = |reported: &str| {
        let lines = reported.lines().filter(|line| line.contains("Read complete"));
        lines.map(|line| line.split_once(": ").unwrap().0.to_owned()).collect::<Vec<_>>()
    };
    let reported = folder.ok(&["plan", "-destroy", "-var=n=2"]);
    assert_eq!(reads(&reported), ["data.terraform_remote_state.keeper[0]", "data.terraform_remote_state.keeper[1]"]);
    // The state has no result any more, and the provider still needs one.
    folder.ok(&["state", "rm", "data.terraform_remote_state.keeper"]);
    let reported = folder.ok(&["plan", "-destroy", "-out=p"]);
    assert_eq!(reads(&reported), ["data.terraform_remote_state.keeper[0]"]);
    folder.ok(SAVED);
    assert!(!folder.ok(&["emulator", "list", "-data=Leo.json"]).contains("AWS::SQS::Queue"));
    assert_eq!(folder.ok(&["state", "list"]), "", "data that was read for the plan is removed too");
}

#[test]
fn destroy_ignores_counts_that_cannot_be_evaluated() {
    let folder = Folder::new();
    folder.write("main.tf", NUMBERED).write("keeper.tfstate", &keeper("Leo"));
    folder.ok(APPLY);
    let never_made = "resource \"terraform_data\" \"never\" {\n  input = 1\n}\n";
    // The count depends on an object that was never created.
    let counted = NUMBERED.replace("count   = var.n\n", "count   = terraform_data.never.output\n");
    folder.write("main.tf", &format!("{counted}{never_made}"));
    folder.ok(DESTROY);
    assert!(!folder.ok(&["emulator", "list", "-data=Leo.json"]).contains("AWS::SQS::Queue"));
}

#[test]
fn destroy_ignores_unreadable_data() {
    let folder = Folder::new();
    folder.write("main.tf", REMAINING).write("keeper.tfstate", &keeper("Leo"));
    folder.ok(APPLY);
    std::fs::remove_file(folder.path("keeper.tfstate")).unwrap();
    let reported = folder.ok(DESTROY);
    assert!(reported.contains("Warning: Unable to find remote state"), "{reported}");
    assert!(reported.contains("Destroy complete! Resources: 1 destroyed."), "{reported}");
    assert_eq!(folder.ok(&["state", "list"]), "");
}

/// What a check block cannot read leaves the state as it is: as the plan tried it or read it, or without it.
#[test]
fn unreadable_data_of_checks() {
    let of = |path: &str| {
        format!(
            r#"
            variable "step" {{
              default = "a"
            }}
            resource "terraform_data" "one" {{
              input = var.step
            }}
            check "found" {{
              data "terraform_remote_state" "found" {{
                backend = "local"
                config  = {{ path = {path} }}
              }}
              assert {{
                condition     = data.terraform_remote_state.found.outputs.a == "a"
                error_message = "It is another one."
              }}
            }}
            "#
        )
    };
    let kept = |folder: &Folder| {
        folder.write("main.tf", &of("\"nowhere\""));
        folder.ok(&["init"]);
        folder.ok(&["apply", "-auto-approve"]);
        let tried = folder.ok(&["state", "list"]);
        folder.write("main.tf", &of("terraform_data.one.output"));
        folder.ok(&["apply", "-auto-approve", "-var=step=b"]);
        let never_tried = folder.ok(&["state", "list"]);
        let taking = "provisioner \"local-exec\" {\n command = \"rm other.tfstate\"\n }";
        folder.write("main.tf", &of("\"other.tfstate\"").replace("input = var.step", taking));
        let state = r#"{"version":4,"terraform_version":"1.15.5","serial":1,"lineage":"l","outputs":{"a":{"value":"a","type":"string"}},"resources":[]}"#;
        folder.write("other.tfstate", state);
        folder.ok(&["apply", "-auto-approve", "-replace=terraform_data.one"]);
        [tried, never_tried, folder.ok(&["state", "show", "data.terraform_remote_state.found"])]
    };
    let ours = kept(&Folder::new());
    assert_eq!(
        ours,
        [
            "data.terraform_remote_state.found\nterraform_data.one\n",
            "terraform_data.one\n",
            "# data.terraform_remote_state.found:\ndata \"terraform_remote_state\" \"found\" {\n    backend = \"local\"\n    config  = {\n        path = \"other.tfstate\"\n    }\n    outputs = {\n        a = \"a\"\n    }\n}\n",
        ]
        .map(str::to_owned)
    );
    let Some(program) = terraform() else { return };
    assert_eq!(ours, kept(&Folder::for_program(&program)));
}
