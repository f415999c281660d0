//! Variable validation that depends on values known after apply: recorded, and compared with Terraform 1.15 if it is
//! available.
//!
//! `INSTA_UPDATE=always` records anew.

use crate::common::scenario::Scenario;

const APPLY: &[&str] = &["apply", "-auto-approve"];

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
fn nothing_is_made_of_a_value_before_its_rules_are_known_to_hold() {
    let mut life = Scenario::new("rules_first", "");
    life.write("inner/main.tf", INNER);
    life.change(&ruled("no"));
    life.init();
    life.run(APPLY);
    life.change(&ruled("yes"));
    life.run(APPLY);
    life.run(&["plan", "-destroy", "-out=p"]);
    life.end();
}
