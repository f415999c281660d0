//! Lifecycles of `terraform_data`: recorded, and compared with Terraform 1.15 if it is available: texts, exit codes,
//! plan documents and states, where each program continues from the state of the other.
//!
//! `INSTA_UPDATE=always` records anew.

use crate::common::scenario::Scenario;

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
    // The second resource follows the new id of the first, so the order of the steps shows.
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
fn failure_between_create_and_destroy_leaves_a_deposed_object() {
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
    // The deposed object is destroyed as the first step of the next run.
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
    // Fewer instances, other keys, and a `count` where there was none: the single object becomes instance zero.
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
    // The forgotten object stays in the cloud, and only leaves the state.
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

/// Each refers to the one before.
const THREE_IN_A_ROW: &str = r#"
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
"#;

#[test]
fn targets_and_requested_replacements() {
    let mut life = Scenario::new("target_and_replace", THREE_IN_A_ROW);
    // A plan of a target includes its dependencies, and warns that it is partial.
    life.run(&["plan", "-target=terraform_data.b", "-out=p"]);
    life.run(&["apply", "p"]);
    life.run(APPLY);
    life.run(&["plan", "-replace=terraform_data.c[1]", "-out=p"]);
    life.run(&["apply", "p"]);
    life.run(&["plan", "-replace=terraform_data.a", "-out=p"]);
    life.run(&["plan", "-replace=terraform_data.nosuch"]);
    // A slip is reported.
    life.differs_on_purpose(&["7. plan -replace=terraform_data.nosuch"]);
    life.end();
}

#[test]
fn destroy_of_a_target_includes_its_dependents() {
    let mut life = Scenario::new("target_and_destroy", THREE_IN_A_ROW);
    life.run(APPLY);
    // Users of the target must go as well; the dependency stays.
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
    // The check warns, but does not stop the apply.
    life.run(&["apply", "-auto-approve", "-var=size=6"]);
    // The variable's own rule comes before the conditions of any resource.
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
