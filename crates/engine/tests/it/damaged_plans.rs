//! Plans from files that are not what was saved.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use groma_engine::{SavedPlan, Unrecorded};

use crate::support::Project;

const MAIN: &str = r#"
variable "v" {
  default = "x"
  validation {
    condition     = length("${var.v}-${local.fixed}") > 0
    error_message = "no"
  }
}
locals {
  name  = "n-${var.v}"
  fixed = "f"
}
module "child" {
  for_each = toset(["a", "b"])
  source   = "./child"
  name     = "${local.name}-${terraform_data.first.id}-${each.key}"
}
resource "terraform_data" "first" {
  input = local.name
}
resource "terraform_data" "each" {
  for_each = toset(["p", "q"])
  input    = "${terraform_data.first.id}-${each.value}"
}
check "c" {
  assert {
    condition     = terraform_data.first.output != ""
    error_message = "no"
  }
}
output "o" { value = module.child["a"].id }
"#;

const CHILD: &str = r#"
variable "name" {}
resource "terraform_data" "it" {
  count = 2
  input = var.name
}
output "id" { value = terraform_data.it[0].id }
"#;

fn project() -> Project {
    Project::new(MAIN).with("child/main.tf", CHILD)
}

#[test]
fn no_byte_of_a_saved_plan_is_trusted() {
    let mut project = project();
    let mut planned = project.plan();
    let plan = planned.plan.take().unwrap();
    let bytes = planned.run().save(&plan).unwrap();
    let (mut refused, mut carried_out) = (0, 0);
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        // Every bit of numbers comes up, since they are small and there are many.
        damaged[at] ^= 1 << (at % 8);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let Ok(saved) = SavedPlan::read(&damaged) else { return false };
            let state = groma_state::State::new("1.15.5");
            let Ok(plan) = planned.run().load_to_apply(saved, state) else { return false };
            let inputs = project.options.inputs.clone();
            planned.run().apply(plan, inputs, Arc::new(Unrecorded));
            true
        }));
        match outcome {
            Ok(true) => carried_out += 1,
            Ok(false) => refused += 1,
            Err(_) => panic!("it panics when byte {at} of {} is changed", bytes.len()),
        }
    }
    assert!(refused > 0 && carried_out > 0, "{refused} refused, {carried_out} carried out");
}
