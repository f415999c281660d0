//! `graph` in the DOT language: recorded, and compared with Terraform 1.15 byte by byte if it is available.
//!
//! `INSTA_UPDATE=always` records anew.

use crate::common::Folder;
use crate::common::scenario::Scenario;

const CONFIGURATION: &str = r#"
variable "size" {
  default = 2
  validation {
    condition     = var.size > local.least
    error_message = "Too small."
  }
}
locals {
  least  = 1
  unused = 2
}
resource "terraform_data" "one" {
  input = var.size
}
resource "terraform_data" "two" {
  count = 2
  input = terraform_data.one.output
}
data "terraform_remote_state" "read" {
  backend = "local"
  config  = { path = "other.tfstate" }
  count   = terraform_data.one.input == null ? 1 : 0
}
module "m" {
  source   = "./m"
  for_each = toset(["p", "q"])
  in       = terraform_data.two[0].id
}
output "out" {
  value = module.m["p"].out
}
check "fine" {
  assert {
    condition     = terraform_data.one.id != ""
    error_message = "Not there."
  }
}
"#;

const MODULE: &str = r#"
variable "in" {}
resource "terraform_data" "x" {
  input = var.in
}
resource "terraform_data" "y" {
  input = terraform_data.x.id
}
output "out" {
  value = terraform_data.y.output
}
"#;

#[test]
fn operations() {
    let mut story = Scenario::new("operations", "resource \"terraform_data\" \"one\" {}\n");
    // A graph of a destruction is drawn from the state, so there must be one first.
    story.run(&["apply", "-auto-approve"]);
    story.run(&["graph", "-type=plan-destroy"]);
    story.write("m/main.tf", MODULE);
    story.change(CONFIGURATION);
    story.init();
    for kind in ["plan", "plan-refresh-only", "apply"] {
        story.run(&["graph", &format!("-type={kind}")]);
    }
    // A saved plan decides the kind of graph, unless a kind is asked for.
    story.run(&["plan", "-out=p"]);
    story.run(&["graph", "-plan=p"]);
    story.run(&["graph", "-plan=p", "-type=plan"]);
    story.run(&["apply", "p"]);
    story.run(&["plan", "-replace=terraform_data.one", "-out=p"]);
    story.run(&["graph", "-plan=p"]);
    story.end();
}

#[test]
fn orphans_are_drawn() {
    let mut story = Scenario::new("graph_of_orphans", "");
    story.write("m/main.tf", MODULE);
    story.change(CONFIGURATION);
    story.init();
    story.run(&["apply", "-auto-approve"]);
    // Everything else is only in the state now, and is drawn from there.
    story.change("resource \"terraform_data\" \"one\" {}\nmodule \"other\" {\n  source = \"./other\"\n}\n");
    story.write("other/main.tf", "");
    story.init();
    for kind in ["plan", "plan-refresh-only", "apply"] {
        story.run(&["graph", &format!("-type={kind}")]);
    }
    story.run(&["graph"]);
    story.end();
}

#[test]
fn removed_outputs_are_drawn_in_destroy_graphs() {
    let resource = "resource \"terraform_data\" \"one\" {}\n";
    let mut story = Scenario::new("graph_of_removed_outputs", resource);
    // An output that is only in the state has no expression, but is removed by a node of its own.
    story.change(&format!("{resource}output \"gone\" {{\n  value = 1\n}}\n"));
    story.run(&["apply", "-auto-approve"]);
    story.change(resource);
    story.run(&["graph", "-type=plan-destroy"]);
    story.run(&["plan", "-destroy", "-out=p"]);
    story.run(&["graph", "-plan=p"]);
    story.end();
}

#[test]
fn draw_cycles_highlights_cycles() {
    let cycle = "resource \"terraform_data\" \"one\" {\n  input = local.two\n}\n\
                  resource \"terraform_data\" \"two\" {\n  input = terraform_data.three.id\n}\n\
                  resource \"terraform_data\" \"three\" {\n  input = terraform_data.two.id\n}\n\
                  locals {\n  two = terraform_data.two.id\n}\n";
    let mut story = Scenario::new("graph_with_cycles", "resource \"terraform_data\" \"one\" {}\n");
    story.run(&["apply", "-auto-approve"]);
    story.change(cycle);
    for kind in ["plan", "apply"] {
        story.run(&["graph", "-draw-cycles", &format!("-type={kind}")]);
    }
    story.end();
    // Without the flag, a cycle is an error that names its members.
    let folder = Folder::new();
    folder.write("main.tf", cycle);
    assert!(folder.fails(&["graph", "-type=plan"]).contains("Cycle: "));
}

#[test]
fn graph_requires_a_readable_state() {
    let folder = Folder::new();
    folder.write("main.tf", CONFIGURATION).write("m/main.tf", MODULE);
    // Resources that are only in the state belong to the graph, so a state that cannot be read is no empty one.
    folder.write("terraform.tfstate", "{\"version\": 99}");
    assert!(folder.fails(&["graph"]).contains("Unsupported state file format"));
}

#[test]
fn mermaid_graph_has_all_nodes() {
    let folder = Folder::new();
    folder.write("main.tf", CONFIGURATION).write("m/main.tf", MODULE);
    let chart = folder.ok(&["graph", "-type=plan", "-format=mermaid"]);
    assert!(chart.starts_with("flowchart RL\n"), "{chart}");
    assert!(chart.contains("[\"provider[#quot;terraform.io/builtin/terraform#quot;] (close)\"]"), "{chart}");
    // The two formats draw the same edges, however they name the nodes.
    let drawn = folder.ok(&["graph", "-type=plan"]);
    assert_eq!(chart.matches(" --> ").count(), drawn.matches(" -> ").count());
}

#[test]
fn unknown_graph_types_are_rejected() {
    let folder = Folder::new();
    folder.write("main.tf", "");
    assert!(folder.fails(&["graph", "-type=everything"]).contains("Unsupported graph type"));
    // Terraform once had this type: the message says that it is gone, not that it is misspelled.
    assert!(folder.fails(&["graph", "-type=validate"]).contains("Graph type no longer available"));
}
