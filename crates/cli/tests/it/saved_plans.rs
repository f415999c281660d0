//! Saved plans: stored options, and partially applied plans.

use serde_json::Value as Json;

use crate::common::Folder;

const TWO: &str = r#"
variable "value" {
  default = "one"
}

resource "terraform_data" "a" {
  input = var.value
}

resource "terraform_data" "b" {
  input = "b"
}
"#;

fn folder(main: &str) -> Folder {
    let folder = Folder::new();
    folder.write("main.tf", main);
    folder
}

fn document(folder: &Folder, plan: &str) -> Json {
    serde_json::from_str(&folder.ok(&["show", "-json", plan])).unwrap()
}

/// `ADDRESS ACTION+ACTION REASON` of all that is more than nothing.
fn changes(plan: &Json) -> Vec<String> {
    let all = plan["resource_changes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let reported = all.iter().filter(|change| change["change"]["actions"] != serde_json::json!(["no-op"]));
    let line = |change: &Json| {
        let actions = change["change"]["actions"].as_array().unwrap().iter();
        let actions: Vec<&str> = actions.map(|action| action.as_str().unwrap()).collect();
        let reason = change["action_reason"].as_str().map(|reason| format!(" {reason}")).unwrap_or_default();
        format!("{} {}{reason}", change["address"].as_str().unwrap(), actions.join("+"))
    };
    reported.map(line).collect()
}

#[test]
fn pl_65_options_are_stored_in_plan_and_document() {
    let cases: [(&[&str], &[&str], bool, &str); 6] = [
        (&["-var=value=two"], &["terraform_data.a update"], true, "0 added, 1 changed, 0 destroyed"),
        (
            &["-replace=terraform_data.b"],
            &["terraform_data.b delete+create replace_by_request"],
            true,
            "1 added, 0 changed, 1 destroyed",
        ),
        (
            &["-destroy"],
            &["terraform_data.a delete", "terraform_data.b delete"],
            true,
            "0 added, 0 changed, 2 destroyed",
        ),
        (
            &["-destroy", "-target=terraform_data.b"],
            &["terraform_data.b delete"],
            false,
            "0 added, 0 changed, 1 destroyed",
        ),
        (&["-var=value=two", "-target=terraform_data.b"], &[], false, "0 added, 0 changed, 0 destroyed"),
        (&["-var=value=two", "-refresh-only"], &[], true, "0 added, 0 changed, 0 destroyed"),
    ];
    for (options, expected, complete, done) in cases {
        let folder = folder(TWO);
        folder.ok(&["apply", "-auto-approve"]);
        folder.ok(&[&["plan", "-out=p"], options].concat());
        let plan = document(&folder, "p");
        assert_eq!(changes(&plan), expected, "{options:?}");
        // A plan with targets is not complete, so that tools know that another one is needed.
        assert_eq!(plan["complete"], complete, "{options:?}: a plan of targets is not the whole");
        let value = if options.contains(&"-var=value=two") { "two" } else { "one" };
        assert_eq!(plan["variables"]["value"]["value"], value, "{options:?}");
        // Messages announce the same changes as the document.
        let messages = folder.ok(&[&["plan", "-json"], options].concat());
        let reported = messages.lines().filter(|line| line.contains("\"type\":\"planned_change\"")).count();
        assert_eq!(reported, expected.len(), "{options:?}");
        // The plan is all that apply needs to know.
        let applied = folder.ok(&["apply", "p"]);
        assert!(applied.contains(&format!("Resources: {done}.")), "{options:?}\n{applied}");
        let after = folder.ok(&[&["plan", "-out=q"], options].concat());
        assert!(
            options.contains(&"-replace=terraform_data.b") || changes(&document(&folder, "q")).is_empty(),
            "{after}"
        );
    }
}

const QUEUE: &str = r#"
terraform {
  required_providers {
    awscc = { source = "hashicorp/awscc" }
  }
}

provider "awscc" {
  region   = "us-east-1"
  emulator = {}
}

resource "awscc_sqs_queue" "q" {
  queue_name = "q"
}
"#;

/// Somebody else changes what the configuration does not set.
fn meddle(folder: &Folder, seconds: u32) {
    let id = folder.ok(&["emulator", "list", "AWS::SQS::Queue"]);
    let id = id.split_whitespace().find(|word| word.starts_with("https://")).unwrap().to_owned();
    let patch = format!("[{{\"op\":\"add\",\"path\":\"/VisibilityTimeout\",\"value\":{seconds}}}]");
    folder.ok(&["emulator", "patch", "AWS::SQS::Queue", &id, &patch]);
}

#[test]
fn pl_65_refresh_options_are_stored_in_the_plan() {
    let folder = folder(QUEUE);
    folder.ok(&["apply", "-auto-approve"]);
    meddle(&folder, 77);
    folder.ok(&["plan", "-refresh=false", "-out=blind"]);
    // Without a refresh, nobody noticed the change.
    assert_eq!(document(&folder, "blind").get("resource_drift"), None);
    folder.ok(&["plan", "-refresh-only", "-out=look"]);
    let plan = document(&folder, "look");
    assert_eq!(plan["resource_drift"][0]["change"]["after"]["visibility_timeout"], 77);
    assert!(changes(&plan).is_empty());
    folder.ok(&["apply", "look"]);
    assert!(folder.read("terraform.tfstate").contains("\"visibility_timeout\": 77"));
}

#[test]
fn lc_22_relevant_drift_is_shown_and_all_drift_with_refresh_only() {
    const HEADING: &str = "Objects have changed outside of Terraform";
    let folder = folder(QUEUE);
    folder.ok(&["apply", "-auto-approve"]);
    assert!(!folder.ok(&["plan", "-refresh-only"]).contains(HEADING), "an unchanged refreshed object is no change");
    meddle(&folder, 77);
    // Drift is only shown if it contributes to a planned change.
    assert!(!folder.ok(&["plan"]).contains(HEADING), "nothing follows from it");
    let looked = folder.ok(&["plan", "-refresh-only"]);
    assert!(looked.contains(HEADING) && looked.contains("visibility_timeout"), "{looked}");
    folder.write(
        "main.tf",
        &format!("{QUEUE}resource \"terraform_data\" \"t\" {{\n  input = awscc_sqs_queue.q.visibility_timeout\n}}\n"),
    );
    let planned = folder.ok(&["plan"]);
    assert!(planned.contains(HEADING) && planned.contains("-> 77"), "the new object comes of it\n{planned}");
}

const CHAIN: &str = r#"
variable "fails" {
  default = true
}

resource "terraform_data" "first" {
  input = "first"
}

resource "terraform_data" "beside" {
  input = "beside"
}

resource "terraform_data" "second" {
  input = terraform_data.first.id
  lifecycle {
    postcondition {
      condition     = !var.fails || self.id == ""
      error_message = "It is not to be."
    }
  }
}

resource "terraform_data" "third" {
  input = terraform_data.second.id
}
"#;

#[test]
fn partially_applied_plan_is_stale() {
    let folder = folder(CHAIN);
    folder.ok(&["plan", "-out=p"]);
    let said = folder.fails(&["apply", "p"]);
    assert!(said.contains("It is not to be."), "{said}");
    let listed = folder.ok(&["state", "list"]);
    assert_eq!(
        // The second object exists, although its condition fails: it was created before the check.
        listed,
        "terraform_data.beside\nterraform_data.first\nterraform_data.second\n",
        "the third waited in vain"
    );
    let first = folder.read("terraform.tfstate");

    let said = folder.fails(&["apply", "p"]);
    assert!(said.contains("Saved plan is stale"), "{said}");
    assert_eq!(folder.read("terraform.tfstate"), first, "a refused plan changes nothing");

    folder.ok(&["plan", "-var=fails=false", "-out=p"]);
    assert_eq!(changes(&document(&folder, "p")), ["terraform_data.third create"]);
    let applied = folder.ok(&["apply", "p"]);
    assert!(applied.contains("Resources: 1 added, 0 changed, 0 destroyed."), "{applied}");
    assert_eq!(folder.run(&["plan", "-var=fails=false", "-detailed-exitcode"]).code, 0);
}

#[test]
fn failed_destroy_continues_with_new_plan() {
    let with = |command: &str| {
        format!(
            r#"
resource "terraform_data" "kept" {{
  provisioner "local-exec" {{
    when    = destroy
    command = "{command}"
  }}
}}

resource "terraform_data" "user" {{
  input = terraform_data.kept.id
}}
"#
        )
    };
    let folder = folder(&with("exit 7"));
    folder.ok(&["apply", "-auto-approve"]);
    folder.ok(&["plan", "-destroy", "-out=p"]);
    folder.fails(&["apply", "p"]);
    assert_eq!(folder.ok(&["state", "list"]), "terraform_data.kept\n");
    assert!(folder.fails(&["apply", "p"]).contains("Saved plan is stale"));
    // The state has changed since the first plan, so a second one is needed for the rest.
    folder.write("main.tf", &with("true"));
    folder.ok(&["plan", "-destroy", "-out=p"]);
    folder.ok(&["apply", "p"]);
    assert_eq!(folder.ok(&["state", "list"]), "");
}

#[test]
fn errored_plan_is_rejected_and_leaves_the_state_unchanged() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    folder.ok(&["apply", "-auto-approve"]);
    let before = folder.read("terraform.tfstate");
    folder.write(
        "main.tf",
        "moved {\n  from = terraform_data.a\n  to   = terraform_data.b\n}\nimport {\n  to = terraform_data.c\n  id = \"x\"\n}\n\
         resource \"terraform_data\" \"b\" {}\nresource \"terraform_data\" \"c\" {}\nresource \"terraform_data\" \"d\" {\n  lifecycle \
         {\n    precondition {\n      condition     = terraform_data.b.id == \"\"\n      error_message = \"No.\"\n    }\n  }\n}\n",
    );
    assert!(folder.fails(&["plan", "-out=p"]).contains("Resource precondition failed"));
    assert!(folder.fails(&["apply", "p"]).contains("Cannot apply incomplete plan"));
    assert_eq!(folder.read("terraform.tfstate"), before);
    // Neither was a backup made: nothing was going to be written.
    assert!(!folder.path("terraform.tfstate.backup").exists());
}

/// Large plans are written in chunks and read by two threads, while a third one orders the steps.
#[test]
fn large_saved_plan_is_applied_unchanged() {
    let folder = folder(
        r#"
resource "terraform_data" "first" {
  count = 4500
  input = "v${count.index}"
}

resource "terraform_data" "second" {
  count = 4500
  input = terraform_data.first[count.index].output
}
"#,
    );
    // Enough changes for several chunks of the plan file.
    folder.ok(&["plan", "-out=plan"]);
    let reported = folder.ok(&["apply", "plan"]);
    assert!(reported.contains("Resources: 9000 added, 0 changed, 0 destroyed"), "{reported}");
    let state: Json = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
    let resources = state["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 2);
    for (resource, depends_on) in resources.iter().zip([Json::Null, serde_json::json!(["terraform_data.first"])]) {
        let instances = resource["instances"].as_array().unwrap();
        assert_eq!(instances.len(), 4500);
        for (index, instance) in instances.iter().enumerate() {
            assert_eq!(instance["index_key"], index);
            assert_eq!(instance["attributes"]["output"]["value"], format!("v{index}"));
            assert_eq!(instance["dependencies"], depends_on);
        }
    }
    assert!(folder.ok(&["plan"]).contains("No changes."));
}

#[test]
fn undeclared_variables_in_files_are_warnings_for_plan_and_apply() {
    let folder = Folder::new();
    folder.write("main.tf", "output \"o\" {\n  value = 1\n}\n").write("terraform.tfvars", "undeclared = 1\n");
    let warning = "Warning: Value for undeclared variable";
    assert!(folder.ok(&["plan", "-out=plan"]).contains(warning));
    assert!(folder.ok(&["apply", "plan"]).contains(warning));
}

/// As Terraform 1.15: what only the state takes in is reported by the plan, not again by the apply of its file.
#[test]
fn saved_plan_messages_omit_unchanged_resources() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    folder.ok(&["apply", "-auto-approve"]);
    let moved = "moved {\n  from = terraform_data.a\n  to = terraform_data.b\n}\n";
    let main = "resource \"terraform_data\" \"b\" {}\nresource \"terraform_data\" \"n\" {}\n";
    folder.write("main.tf", &format!("{main}{moved}"));
    let planned = folder.ok(&["plan", "-json", "-out=p"]);
    assert!(planned.contains("terraform_data.b: Plan to move") && planned.contains("terraform_data.n: Plan to create"));
    let applied = folder.ok(&["apply", "-json", "p"]);
    assert!(!applied.contains("Plan to move") && applied.contains("terraform_data.n: Plan to create"), "{applied}");
    assert_eq!(folder.ok(&["state", "list"]), "terraform_data.b\nterraform_data.n\n");
}

#[test]
fn saved_plan_belongs_to_its_workspace() {
    let folder = folder("resource \"terraform_data\" \"a\" {}\n");
    folder.ok(&["workspace", "new", "dev"]);
    folder.ok(&["plan", "-out=p"]);
    folder.ok(&["workspace", "select", "default"]);
    let reported = folder.fails(&["apply", "p"]).replace('\n', " ");
    assert!(
        reported.contains("changes to the \"dev\" workspace, but the \"default\" workspace is currently"),
        "{reported}"
    );
    // The other workspace's state is untouched: nothing was applied there by mistake.
    assert!(!folder.path("terraform.tfstate").exists());
    folder.ok(&["workspace", "select", "dev"]);
    folder.ok(&["apply", "p"]);
}

#[test]
fn ephemeral_variables_are_set_in_both_runs_or_neither() {
    let text =
        "variable \"e\" {\n  ephemeral = true\n  default   = \"usual\"\n}\nvariable \"n\" {\n  ephemeral = true\n}\n";
    let folder = folder(&format!("{text}resource \"terraform_data\" \"a\" {{}}\n"));
    folder.write("none.tfvars", "e = null\n");
    // The value itself is not stored, only that there was one.
    folder.ok(&["plan", "-out=p", "-var=n=1"]);
    let reported = folder.fails(&["apply", "p"]);
    assert!(reported.contains("No value for required variable") && reported.contains("\"n\""), "{reported}");
    // Null does not count as a value at planning, but giving it now still does.
    for surplus in ["-var=e=1", "-var-file=none.tfvars"] {
        let reported = folder.fails(&["apply", "-var=n=2", surplus, "p"]);
        assert!(
            reported.contains("Ephemeral variable was not set during planning") && reported.contains("\"e\""),
            "{reported}"
        );
    }
    folder.ok(&["apply", "-var=n=2", "p"]);
    folder.ok(&["plan", "-destroy", "-out=p", "-var=n=1", "-var=e=1"]);
    let reported = folder.fails(&["apply", "-var=n=2", "p"]);
    assert!(reported.contains("No value for required variable") && reported.contains("\"e\""), "{reported}");
    // What is null counts as none.
    folder.ok(&["plan", "-destroy", "-out=p", "-var=n=1", "-var-file=none.tfvars"]);
    folder.ok(&["apply", "-var=n=2", "p"]);
}
