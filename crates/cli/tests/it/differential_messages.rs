//! Errors about options, moved blocks and states, and details of plans: recorded, and compared with Terraform 1.15 if
//! it is available.
//!
//! `INSTA_UPDATE=always` records anew.

use serde_json::Value as Json;

use crate::common::Folder;
use crate::common::normalization::terraform;
use crate::common::scenario::Scenario;

const PLAN: &[&str] = &["plan", "-out=p"];
const APPLY: &[&str] = &["apply", "-auto-approve"];

#[test]
fn move_source_must_not_be_declared() {
    let configuration = |moved: &str| {
        format!(
            r#"
            resource "terraform_data" "old" {{
            }}

            resource "terraform_data" "new" {{
            }}

            resource "terraform_data" "counted" {{
              count = 2
            }}

            module "m" {{
              source = "./m"
            }}

            {moved}
            "#
        )
    };
    let moved = |from: &str, to: &str| format!("moved {{\n  from = {from}\n  to   = {to}\n}}\n");
    // Whether the source still exists, which makes the move an error.
    for (moves, is_wrong) in [
        (moved("terraform_data.old", "terraform_data.new"), true),
        (moved("terraform_data.old", "terraform_data.new[\"x\"]"), true),
        (moved("module.m", "module.n"), true),
        (moved("module.m", "module.n[0]"), true),
        (moved("module.m.terraform_data.inner", "terraform_data.new"), true),
        // Two moves in opposite directions are reported as sources that still exist, not as a cycle.
        (moved("terraform_data.old", "terraform_data.new") + &moved("terraform_data.new", "terraform_data.old"), true),
        // The resource exists, but not the instance that the move leads to.
        (moved("terraform_data.counted", "terraform_data.counted[5]"), false),
        // The source is not declared any more, which is the normal case.
        (moved("terraform_data.gone", "terraform_data.new"), false),
        (moved("module.gone", "module.m"), false),
    ] {
        for program in
            [Some(Folder::new()), terraform().map(|program| Folder::for_program(&program))].into_iter().flatten()
        {
            program.write("m/main.tf", "resource \"terraform_data\" \"inner\" {\n}\n");
            program.write("main.tf", &configuration(&moves));
            program.ok(&["init"]);
            let ran = program.run(&["plan"]);
            let reported = (ran.code, ran.err.contains("Moved object still exists"), ran.err.contains("Cyclic"));
            assert_eq!(reported, (i32::from(is_wrong), is_wrong, false), "{moves}{}", ran.err);
        }
    }
}

#[test]
fn conflicting_modes_are_rejected() {
    // An object in the state, so that every mode has something to do.
    let mut scenario = Scenario::new("modes", "resource \"terraform_data\" \"a\" {\n  input = 1\n}\n");
    scenario.run(APPLY);
    for arguments in [
        &["plan", "-destroy", "-replace=terraform_data.a"][..],
        &["plan", "-refresh-only", "-replace=terraform_data.a"],
        &["plan", "-refresh-only", "-refresh=false"],
        &["plan", "-destroy", "-refresh-only"],
        &["destroy", "-destroy"],
        &["destroy", "-refresh-only"],
        // Zero selects the default; only negative numbers are invalid.
        &["plan", "-parallelism=-1"],
        &["plan", "-parallelism=0"],
        // Both flags exist only in experimental builds of Terraform, which other builds refuse.
        &["init", "-enable-pluggable-state-storage-experiment"],
        &["init", "-create-default-workspace=false"],
    ] {
        scenario.run(arguments);
    }
    scenario.end();
}

#[test]
fn planned_deletions_are_shown_with_an_error() {
    let before = r#"
resource "terraform_data" "left" {
  input = 1
}

resource "terraform_data" "gone" {
  input      = 2
  depends_on = [terraform_data.left]
}

resource "terraform_data" "let_go" {
  input      = 3
  depends_on = [terraform_data.gone]
}
"#;
    // The count depends on a value that is unknown in this plan, which is the error.
    let after = r#"
resource "terraform_data" "left" {
  input = 2
}

resource "terraform_data" "many" {
  count = length(terraform_data.left.output) > 0 ? 1 : 2
}

removed {
  from = terraform_data.let_go
  lifecycle {
    destroy = false
  }
}
"#;
    let mut scenario = Scenario::new("deletions_with_an_error", before);
    scenario.run(APPLY);
    scenario.change(after);
    scenario.run(&["plan", "-out=p"]);
    scenario.run(APPLY);
    scenario.end();
}

#[test]
fn saved_plan_ignores_planning_flags() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {\n  input = 1\n}\n");
    for option in ["-target=terraform_data.b", "-replace=terraform_data.a", "-destroy", "-refresh-only"] {
        // The plan is made before each apply, because a saved plan can be applied only once.
        folder.ok(PLAN);
        let reported = folder.ok(&["apply", option, "p"]);
        assert!(reported.contains("Warning: Planning options with a saved plan"), "{reported}");
        // The plan decides: its resource is created although the flag says otherwise.
        assert!(reported.contains("Resources: 1 added, 0 changed, 0 destroyed."), "{reported}");
        folder.ok(&["destroy", "-auto-approve"]);
    }
}

#[test]
fn sensitive_error_messages_are_warned_about() {
    let configuration = |condition: &str| {
        format!(
            r#"
            variable "key" {{
              default   = "k"
              sensitive = true
            }}

            check "key" {{
              assert {{
                condition     = var.key {condition} "k"
                error_message = "The key is ${{var.key}}."
              }}
            }}
            "#
        )
    };
    let mut scenario = Scenario::new("messages_of_secrets", &configuration("=="));
    scenario.run(&["validate"]);
    scenario.run(&["plan"]);
    scenario.change(&configuration("!="));
    scenario.run(PLAN);
    scenario.run(APPLY);
    scenario.end();
}

#[test]
fn element_that_becomes_unknown_is_paired_with_null() {
    let configuration = |unknown: bool| {
        // One configuration before and one after the values become unknown.
        let of = |known: &'static str, unknown_now: &'static str| if unknown { unknown_now } else { known };
        format!(
            r#"
            resource "terraform_data" "id" {{
              triggers_replace = {unknown}
            }}

            resource "terraform_data" "same_length" {{
              input = [null, 1, {}, "z"]
            }}

            resource "terraform_data" "longer" {{
              input = [{}]
            }}

            resource "terraform_data" "two" {{
              input = [1, {}, 5]
            }}
            "#,
            of("null", "terraform_data.id.id"),
            of("null", "terraform_data.id.id, null"),
            of("null, null", "terraform_data.id.id, 7"),
        )
    };
    let mut scenario = Scenario::new("null_and_unknown", &configuration(false));
    scenario.run(APPLY);
    scenario.change(&configuration(true));
    scenario.run(PLAN);
    scenario.run(&["apply", "p"]);
    scenario.end();
}

#[test]
fn stored_attributes_missing_from_the_schema_are_omitted() {
    let mut scenario = Scenario::new("missing_attributes", "resource \"terraform_data\" \"a\" {\n  input = 1\n}\n");
    scenario.run(APPLY);
    // An attribute that a newer provider may have written.
    scenario.edit_state(|state| state["resources"][0]["instances"][0]["attributes"]["odd"] = Json::from(1));
    scenario.run(&["plan"]);
    scenario.end();
}

#[test]
fn extreme_numbers_are_cheap() {
    let folder = Folder::new();
    folder.write("m/main.tf", "resource \"terraform_data\" \"b\" {\n}\n").write(
        "main.tf",
        "resource \"terraform_data\" \"a\" {\n  count = 2\n}\nmodule \"m\" {\n  source = \"./m\"\n  count  = 2\n}\n",
    );
    folder.ok(APPLY);
    let state = folder.read("terraform.tfstate");
    // Four billion instances would exhaust memory if a gap in the indexes cost anything.
    let far =
        state.replace("\"index_key\": 1,", "\"index_key\": 4000000000,").replace("module.m[1]", "module.m[4000000000]");
    folder.write("terraform.tfstate", &far);
    let plan = folder.ok(&["plan"]);
    assert!(plan.contains("Plan: 2 to add, 0 to change, 2 to destroy."), "{plan}");
    let reported = folder.ok(&["destroy", "-auto-approve"]);
    assert!(reported.contains("Destroy complete! Resources: 4 destroyed."), "{reported}");
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {\n  count = 4000000000\n}\n");
    // More instances than the engine supports are an error, not an attempt.
    assert!(folder.fails(&["plan"]).contains("too large"));
}

#[test]
fn targeting_and_plan_warnings_require_a_plan() {
    // An unsupported argument: planning fails before any plan exists.
    let wrong = "resource \"terraform_data\" \"a\" {\n  input = 1\n  nope  = 2\n}\n";
    let sound = "resource \"terraform_data\" \"b\" {\n  input = 1\n}\n";
    let mut scenario = Scenario::new("before_planning", sound);
    scenario.run(APPLY);
    scenario.change(wrong);
    scenario.run(&["plan", "-target=terraform_data.a"]);
    scenario.run(&["destroy", "-auto-approve", "-target=terraform_data.a"]);
    let unreadable = r#"
data "terraform_remote_state" "a" {
  backend = "local"
  config = {
    path = "nowhere"
  }
}
"#;
    // The file does not exist, so reading the data source fails during the walk.
    scenario.change(unreadable);
    for command in [&["plan"][..], &["apply", "-auto-approve"], &["apply", "-auto-approve", "-refresh-only"]] {
        scenario.run(command);
        scenario.run(&[command, &["-target=data.terraform_remote_state.a"]].concat());
    }
    // Restores a valid configuration for the end of the scenario.
    scenario.change(sound);
    scenario.end();
}
