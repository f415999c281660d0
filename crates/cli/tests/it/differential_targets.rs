//! Lifecycles with targets, conditions, validation rules, action reasons and `-refresh-only` steps: recorded, and compared with
//! Terraform 1.15 if it is available.
//!
//! `INSTA_UPDATE=always` records anew.

use crate::common::Folder;
use crate::common::scenario::Scenario;

const PLAN: &[&str] = &["plan", "-out=p"];
const APPLY: &[&str] = &["apply", "-auto-approve"];
const SAVED: &[&str] = &["apply", "p"];
const NOTHING: &[&str] = &["plan", "-detailed-exitcode"];
const DESTROY: &[&str] = &["destroy", "-auto-approve"];

/// Conditions of every kind, in the root module and in another.
const CHECKED: &str = r#"
variable "size" {
  default = 1
  validation {
    condition     = var.size > 0
    error_message = "Too small."
  }
}

resource "terraform_data" "checked" {
  input = var.size
  lifecycle {
    precondition {
      condition     = var.size > 0
      error_message = "Too small."
    }
  }
}

output "id" {
  value = terraform_data.checked.id
  precondition {
    condition     = var.size > 0
    error_message = "Too small."
  }
}

check "small" {
  assert {
    condition     = var.size < 10
    error_message = "Too large."
  }
}
"#;

fn checked_twice(more: &str) -> String {
    format!(
        // The module without instances declares the same conditions, which are never evaluated.
        "module \"inner\" {{\n  source = \"./inner\"\n}}\n\nmodule \"none\" {{\n  source = \"./inner\"\n  count  = 0\n}}\n{CHECKED}\nresource \"terraform_data\" \"other\" {{\n}}\n{more}"
    )
}

#[test]
fn targets_leave_outputs_and_conditions_alone() {
    let gone = "\noutput \"gone\" {\n  value = \"here\"\n}\n";
    let mut life = Scenario::new("targets_and_conditions", "");
    life.write("inner/main.tf", CHECKED);
    life.change(&checked_twice(gone));
    life.init();
    life.run(PLAN);
    life.run(SAVED);
    // The output exists in the state only, so a targeted plan must not delete it.
    life.change(&checked_twice(""));
    // The target depends on no condition.
    life.run(&["plan", "-out=p", "-target=terraform_data.other"]);
    life.run(SAVED);
    life.run(&["plan", "-out=p", "-destroy", "-target=terraform_data.other"]);
    life.run(SAVED);
    life.run(APPLY);
    life.run(&["plan", "-out=p", "-destroy"]);
    life.run(SAVED);
    life.run(DESTROY);
    life.end();
}

#[test]
fn conditions_of_untargeted_instances_are_unknown() {
    let groma = Folder::new();
    groma.write(
        "main.tf",
        r#"
variable "size" {
  default = 1
}

resource "terraform_data" "each" {
  for_each = { a = 1, b = 2, c = 3 }
  lifecycle {
    precondition {
      condition     = var.size > 0
      error_message = "Too small."
    }
  }
}
"#,
    );
    groma.ok(&["plan", "-out=p", "-target=terraform_data.each[\"b\"]"]);
    let document: serde_json::Value = serde_json::from_str(&groma.ok(&["show", "-json", "p"])).unwrap();
    let check = &document["checks"][0];
    // A check is unknown as a whole as soon as one of its instances is.
    assert_eq!(check["status"], "unknown");
    let instances = check["instances"].as_array().unwrap();
    let keys: Vec<_> = instances.iter().map(|one| &one["address"]["instance_key"]).collect();
    assert_eq!(keys, ["a", "b", "c"]);
    let statuses: Vec<_> = instances.iter().map(|one| &one["status"]).collect();
    assert_eq!(statuses, ["unknown", "pass", "unknown"]);
}

#[test]
fn moved_objects_must_be_targeted() {
    let mut life = Scenario::new(
        "moved_and_targets",
        "resource \"terraform_data\" \"old\" {\n}\n\nresource \"terraform_data\" \"other\" {\n}\n",
    );
    life.run(APPLY);
    life.change(
        "resource \"terraform_data\" \"new\" {\n}\n\nresource \"terraform_data\" \"other\" {\n}\n\nmoved {\n  from = \
         terraform_data.old\n  to   = terraform_data.new\n}\n",
    );
    // The moved object is outside of the target, so the plan is refused.
    life.run(&["plan", "-target=terraform_data.other"]);
    life.run(&["plan", "-destroy", "-target=terraform_data.new"]);
    // Both addresses are targets, so the object can move.
    life.run(&["plan", "-out=p", "-target=terraform_data.old", "-target=terraform_data.new"]);
    life.run(SAVED);
    life.run(NOTHING);
    life.end();
}

#[test]
fn reasons_of_deletions() {
    let inner = "resource \"terraform_data\" \"inner\" {\n}\n";
    let call = |name: &str, count: &str| format!("module \"{name}\" {{\n  source = \"./inner\"\n{count}}}\n");
    let mut life = Scenario::new("reasons", "");
    life.write("inner/main.tf", inner);
    // "gone" loses its call, and "fewer" one of its instances: each has its own reason.
    life.change(&format!("{}{}", call("gone", ""), call("fewer", "  count  = 2\n")));
    life.init();
    life.run(APPLY);
    life.change(&call("fewer", "  count  = 1\n"));
    life.init();
    life.run(PLAN);
    life.run(SAVED);
    life.end();
}

#[test]
fn replace_triggered_by_is_the_first_reason() {
    let text = |value: &str| {
        format!(
            // Two reasons for one replacement, of which replace_triggered_by is shown.
            r#"
resource "terraform_data" "trigger" {{
  input = "{value}"
}}

resource "terraform_data" "one" {{
  triggers_replace = terraform_data.trigger.output
  lifecycle {{
    replace_triggered_by = [terraform_data.trigger]
  }}
}}

resource "terraform_data" "two" {{
  triggers_replace = "{value}"
}}

output "nothing" {{
  value = null
}}
"#
        )
    };
    let mut life = Scenario::new("triggers", &text("a"));
    life.run(PLAN);
    life.run(SAVED);
    life.change(&text("b"));
    // -replace adds a third reason.
    life.run(&["plan", "-out=p", "-replace=terraform_data.one", "-replace=terraform_data.two"]);
    // A tainted object would be replaced anyway.
    life.run(&["taint", "terraform_data.one"]);
    life.run(PLAN);
    life.run(SAVED);
    life.run(NOTHING);
    life.end();
}

#[test]
fn plans_describe_the_whole_configuration() {
    let inner = r#"
resource "terraform_data" "counted" {
  count = 2
  input = ""
}

resource "terraform_data" "user" {
  input = [terraform_data.counted[1].output, terraform_data.counted[*].id]
}

resource "terraform_data" "none" {
  count            = 0
  input            = false ? jsonencode("never") : "always"
  triggers_replace = 1
}
"#;
    let root = |value: &str| {
        format!(
            // The names sort differently as text and by instance: a, a1, a10.
            r#"
module "a1" {{
  source = "./inner"
}}

module "a10" {{
  source = "./inner"
}}

module "a" {{
  source = "./inner"
  count  = 1
}}

output "always" {{
  value = false ? jsonencode("never") : "{value}"
}}
"#
        )
    };
    let mut life = Scenario::new("whole_configuration", "");
    life.write("inner/main.tf", inner);
    life.change(&root("one"));
    life.init();
    life.run(PLAN);
    life.run(SAVED);
    life.write("inner/main.tf", &inner.replace("input = \"\"", "input = \"more\""));
    life.run(PLAN);
    life.run(SAVED);
    life.run(NOTHING);
    life.end();
}

#[test]
fn destroy_succeeds_despite_invalid_expressions() {
    let text = |name: &str| {
        format!(
            // The key of the module is unknown to a run that never created its dependency.
            r#"
resource "terraform_data" "{name}" {{
}}

resource "terraform_data" "each" {{
  for_each = {{ a = 1 }}
}}

locals {{
  one = terraform_data.each["a"].id
}}

module "inner" {{
  source   = "./inner"
  for_each = {{ (local.one) = 1 }}
}}
"#
        )
    };
    let groma = Folder::new();
    groma.write("inner/main.tf", "output \"id\" {\n  value = 1\n}\n").write("main.tf", &text("made"));
    // Only a part of the configuration is applied, so the local value has no object to refer to.
    groma.ok(&["apply", "-auto-approve", "-target=terraform_data.made"]);
    let out = groma.ok(&["destroy", "-auto-approve"]);
    assert!(out.contains("Destroy complete! Resources: 1 destroyed."), "{out}");
    // Destroying again finds nothing and succeeds.
    let out = groma.ok(&["destroy", "-auto-approve"]);
    assert!(out.contains("Resources: 0 destroyed."), "{out}");
}

#[test]
fn instance_keys_of_enclosing_modules_are_shown() {
    let mut life = Scenario::new("target_in_repeated_module", "");
    life.write("inner/main.tf", "resource \"terraform_data\" \"it\" {\n  count = 2\n}\n");
    life.change("module \"inner\" {\n  source = \"./inner\"\n  count  = 2\n}\n");
    life.init();
    life.run(&["plan", "-out=p", "-target=module.inner.terraform_data.it"]);
    life.run(&["plan", "-out=p", "-target=module.inner[1].terraform_data.it"]);
    life.run(APPLY);
    // Addresses with and without keys, in modules with instances.
    for target in ["module.inner.terraform_data.it[0]", "module.inner[0].terraform_data.it", "module.inner"] {
        life.run(&["plan", "-destroy", "-out=p", &format!("-target={target}")]);
        life.run(&["state", "list", target]);
        life.run(&["state", "rm", "-dry-run", target]);
    }
    life.end();
}

#[test]
fn targets_without_objects_have_no_effect() {
    let numbered = |count: u32| {
        format!(
            "resource \"terraform_data\" \"first\" {{\n  count = {count}\n}}\n\nresource \"terraform_data\" \"second\" {{\n  input = terraform_data.first[*].id\n}}\n"
        )
    };
    let mut life = Scenario::new("target_without_objects", &numbered(0));
    life.run(APPLY);
    // The resource has no instances, so the target selects nothing.
    life.run(&["plan", "-destroy", "-out=p", "-target=terraform_data.first"]);
    life.change(&numbered(2));
    life.run(APPLY);
    life.run(&["plan", "-destroy", "-out=p", "-target=terraform_data.first[1]"]);
    // The index does not exist.
    life.run(&["plan", "-destroy", "-out=p", "-target=terraform_data.first[2]"]);
    life.end();
}

#[test]
fn untargeted_sensitive_output_is_not_planned() {
    let mut life = Scenario::new("target_with_sensitive_output", "");
    life.write(
        "inner/main.tf",
        r#"
resource "terraform_data" "key" {
}

output "key" {
  value     = terraform_data.key.id
  sensitive = true
}
"#,
    );
    life.change(
        r#"
resource "terraform_data" "other" {
}

module "inner" {
  source = "./inner"
}

output "keys" {
  value = module.inner
}
"#,
    );
    life.init();
    life.run(&["plan", "-out=p", "-target=terraform_data.other"]);
    life.run(SAVED);
    life.run(&["plan", "-target=module.inner"]);
    life.run(&["plan", "-target=module.inner.terraform_data.key"]);
    life.end();
}

/// A variable of the root module and one of a called module, and what is made of them.
fn ruled(wanted: &str) -> String {
    format!(
        r#"
variable "wanted" {{
  default = "{wanted}"
  validation {{
    condition     = terraform_data.decides.output == var.wanted
    error_message = "Not wanted here."
  }}
}}

resource "terraform_data" "decides" {{
  input = "yes"
}}

resource "terraform_data" "user" {{
  input = var.wanted
}}

module "inner" {{
  source = "./inner"
  wanted = "{wanted}"
}}
"#
    )
}

const INNER: &str = r#"
variable "wanted" {
  validation {
    condition     = local.decided == var.wanted
    error_message = "Not wanted inside."
  }
}

locals {
  decided = terraform_data.decides.output
  derived = "${var.wanted}!"
}

resource "terraform_data" "decides" {
  input = "yes"
}

resource "terraform_data" "user" {
  input = local.derived
}

output "derived" {
  value = local.derived
}
"#;

#[test]
fn values_are_used_only_after_their_validation_rules_hold() {
    let mut life = Scenario::new("rules_first", "");
    life.write("inner/main.tf", INNER);
    // The rule compares with a value that is known only after apply, so plan cannot decide it.
    life.change(&ruled("no"));
    life.init();
    life.run(APPLY);
    life.change(&ruled("yes"));
    life.run(APPLY);
    life.run(&["plan", "-destroy", "-out=p"]);
    life.end();
}

const LOOK: &[&str] = &["plan", "-refresh-only", "-out=p"];
const TAKE: &[&str] = &["apply", "-refresh-only", "-auto-approve"];

#[test]
fn failed_conditions_do_not_stop_refresh_only() {
    let with = |more: &str| {
        format!(
            r#"
variable "ok" {{ default = true }}

resource "terraform_data" "it" {{
  count = 2
  input = "x"
  lifecycle {{
    precondition {{
      condition     = var.ok
      error_message = "Not before."
    }}
    postcondition {{
      condition     = self.input == "x" && var.ok
      error_message = "Not after."
    }}
  }}
}}

output "it" {{
  value = terraform_data.it[0].input
  precondition {{
    condition     = var.ok
    error_message = "Not outside."
  }}
}}
{more}"#
        )
    };
    let mut life = Scenario::new("refresh_only_conditions", &with(""));
    life.run(&["apply", "-auto-approve"]);
    // A refresh-only plan succeeds although the conditions fail.
    life.run(&["plan", "-refresh-only", "-out=p", "-var=ok=false"]);
    life.edit_state(|state| state["resources"][0]["instances"][1]["attributes"]["input"]["value"] = "y".into());
    life.run(LOOK);
    life.run(TAKE);
    // The apply still fails for the output, whose value it stores; the others are warnings.
    life.run(&[TAKE, &["-var=ok=false"]].concat());
    // An object that was never created: its failing conditions must not stop the refresh.
    let never_made = "\nresource \"terraform_data\" \"new\" {\n  lifecycle {\n    precondition {\n      condition     = !var.ok\n      \
                      error_message = \"Not yet.\"\n    }\n    postcondition {\n      condition     = self.id == null && !var.ok\n      \
                      error_message = \"Never.\"\n    }\n  }\n}\n";
    // Without the other conditions: Terraform folds all warnings with the same summary, and Groma only those with the same
    // detail (docs/differences.md).
    let others = "variable \"ok\" { default = true }\nresource \"terraform_data\" \"it\" {\n  count = 2\n  input = \"x\"\n}\noutput \"it\" {\n  \
                  value = terraform_data.it[0].input\n}\n";
    life.change(&format!("{others}{never_made}"));
    life.run(LOOK);
    life.run(TAKE);
    life.end();
}

#[test]
fn deleted_objects_are_omitted() {
    let mut life = Scenario::new(
        "refresh_only_deleted",
        r#"
resource "terraform_data" "numbered" {
  count = 3
  input = count.index
}

resource "terraform_data" "named" {
  for_each = toset(["a", "b", "c"])
  input    = each.key
}

output "numbered" {
  value = terraform_data.numbered[*].input
}

output "how_many" {
  value = length(terraform_data.numbered)
}

output "named" {
  value = { for name, it in terraform_data.named : name => it.input }
}
"#,
    );
    life.run(&["apply", "-auto-approve"]);
    life.edit_state(|state| {
        for resource in state["resources"].as_array_mut().unwrap() {
            let instances = resource["instances"].as_array_mut().unwrap();
            // Deletes one object in the middle and one at the end, outside of any run.
            instances.retain(|one| one["index_key"] != 2 && one["index_key"] != "b");
        }
    });
    life.run(LOOK);
    life.run(TAKE);
    life.run(&["plan", "-detailed-exitcode"]);
    // Without any object the outputs become empty.
    life.edit_state(|state| state["resources"].as_array_mut().unwrap().clear());
    life.run(TAKE);
    life.end();
}
