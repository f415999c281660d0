//! `terraform_remote_state`: what one configuration tells another by its state.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::Folder;
use common::even::terraform;

const GIVING: &str = r#"
output "names" {
  value = ["a", "b"]
}

output "size" {
  value = 3
}
"#;

const TAKING: &str = r#"
data "terraform_remote_state" "base" {
  backend  = "local"
  config   = { path = "base/terraform.tfstate" }
  defaults = { size = 1, color = "red" }
}

output "taken" {
  value = data.terraform_remote_state.base.outputs
}
"#;

fn taken(folder: &Folder) -> String {
    folder.write("base/main.tf", GIVING).write("main.tf", TAKING);
    folder.ok(&["-chdir=base", "init"]);
    folder.ok(&["-chdir=base", "apply", "-auto-approve"]);
    folder.ok(&["init"]);
    folder.ok(&["apply", "-auto-approve"]);
    folder.ok(&["output", "-json", "taken"])
}

#[test]
fn outputs_of_another_state_are_taken_with_defaults_for_what_it_lacks() {
    let ours = taken(&Folder::new());
    assert_eq!(ours.trim(), r#"{"color":"red","names":["a","b"],"size":3}"#);
    let Some(program) = terraform() else { return };
    assert_eq!(ours.trim(), taken(&Folder::for_program(&program)).trim());
}

#[test]
fn a_state_that_is_not_there_is_an_error_that_names_it() {
    let folder = Folder::new();
    folder.write("main.tf", TAKING);
    let problem = folder.fails(&["plan"]);
    assert!(problem.contains("Unable to find remote state"), "{problem}");
    assert!(problem.contains("base/terraform.tfstate"), "{problem}");
}
