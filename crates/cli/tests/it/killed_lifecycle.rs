//! `lifecycle` arguments apply to objects of killed runs.

use serde_json::Value as Json;

use crate::common::Folder;
use crate::common::background::{identifiers, kill, start, until_said};

const PROVIDER: &str = r#"
terraform {
  required_providers {
    awscc = { source = "hashicorp/awscc" }
  }
}
variable "delay" { default = "0ms" }
variable "timeout" { default = 10 }
provider "awscc" {
  region   = "eu-central-1"
  emulator = { delay = var.delay }
}
"#;

/// A queue whose block says more.
fn queue(more: &str) -> String {
    format!("{PROVIDER}resource \"awscc_sqs_queue\" \"it\" {{\n  visibility_timeout = var.timeout\n{more}}}\n")
}

const KEPT: &str = "  lifecycle {\n    destroy = false\n  }\n";

/// A folder whose run was killed after it had said so.
fn killed(folder: &Folder, arguments: &[&str], after: &str) {
    let run = start(folder, &[&["-var=delay=2s"], arguments].concat());
    until_said(folder, after, 1);
    kill(run);
}

/// The queues of the state.
fn known(folder: &Folder) -> Vec<Json> {
    let state: Json = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
    let resources = state["resources"].as_array().unwrap();
    resources.iter().flat_map(|resource| resource["instances"].as_array().unwrap().clone()).collect()
}

#[test]
fn an_object_that_is_not_to_be_destroyed_is_not_although_its_block_goes_right_after() {
    let folder = Folder::new();
    folder.write("main.tf", &queue(KEPT));
    killed(&folder, &[], ": Creating...");
    folder.write("main.tf", PROVIDER);
    let ran = folder.ok(&["apply", "-auto-approve"]);
    assert!(ran.contains("will no longer be managed by Terraform"), "{ran}");
    assert_eq!((identifiers(&folder).len(), known(&folder).len()), (1, 0), "{ran}");
}

#[test]
fn nor_is_one_whose_change_would_have_said_so() {
    let folder = Folder::new();
    folder.write("main.tf", &queue(""));
    folder.ok(&["apply", "-auto-approve"]);
    folder.write("main.tf", &queue(KEPT));
    killed(&folder, &["-var=timeout=20"], ": Modifying...");
    folder.write("main.tf", PROVIDER);
    let ran = folder.ok(&["apply", "-auto-approve"]);
    assert_eq!((identifiers(&folder).len(), known(&folder).len()), (1, 0), "{ran}");
}

#[test]
fn one_that_may_be_destroyed_is() {
    let folder = Folder::new();
    folder.write("main.tf", &queue(""));
    killed(&folder, &[], ": Creating...");
    folder.write("main.tf", PROVIDER);
    let ran = folder.ok(&["apply", "-auto-approve"]);
    assert_eq!((identifiers(&folder).len(), known(&folder).len()), (0, 0), "{ran}");
}

#[test]
fn object_with_failed_provisioner_is_recreated() {
    let folder = Folder::new();
    let provisioned = "  provisioner \"local-exec\" {\n    command = \"echo provisioned >> done\"\n  }\n";
    folder.write("main.tf", &queue(provisioned));
    killed(&folder, &[], ": Creating...");
    let ran = folder.ok(&["apply", "-auto-approve"]);
    assert!(ran.contains("is tainted, so must be replaced"), "{ran}");
    assert_eq!(folder.read("done"), "provisioned\n");
    assert_eq!((identifiers(&folder).len(), known(&folder).len()), (1, 1), "{ran}");
}
