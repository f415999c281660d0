//! Lifecycles with `-refresh-only` steps: recorded, and compared with Terraform 1.15 if it is available.
//!
//! `INSTA_UPDATE=always` records anew.

use crate::common::scenario::Scenario;

const LOOK: &[&str] = &["plan", "-refresh-only", "-out=p"];
const TAKE: &[&str] = &["apply", "-refresh-only", "-auto-approve"];

#[test]
fn conditions_that_do_not_hold_keep_nobody_from_looking() {
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
    let mut life = Scenario::new("looking_conditions", &with(""));
    life.run(&["apply", "-auto-approve"]);
    life.run(&["plan", "-refresh-only", "-out=p", "-var=ok=false"]);
    life.edit_state(|state| state["resources"][0]["instances"][1]["attributes"]["input"]["value"] = "y".into());
    life.run(LOOK);
    life.run(TAKE);
    // What is carried out has to hold.
    life.run(&[TAKE, &["-var=ok=false"]].concat());
    let never_made = "\nresource \"terraform_data\" \"new\" {\n  lifecycle {\n    precondition {\n      condition     = !var.ok\n      \
                      error_message = \"Not yet.\"\n    }\n    postcondition {\n      condition     = self.id == null && !var.ok\n      \
                      error_message = \"Never.\"\n    }\n  }\n}\n";
    life.change(&with(never_made));
    life.run(LOOK);
    life.run(TAKE);
    life.end();
}

#[test]
fn objects_that_are_gone_are_left_out() {
    let mut life = Scenario::new(
        "looking_gone",
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
            instances.retain(|one| one["index_key"] != 2 && one["index_key"] != "b");
        }
    });
    life.run(LOOK);
    life.run(TAKE);
    life.run(&["plan", "-detailed-exitcode"]);
    life.edit_state(|state| state["resources"].as_array_mut().unwrap().clear());
    life.run(TAKE);
    life.end();
}
