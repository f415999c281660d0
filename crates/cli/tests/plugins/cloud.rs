//! The Cloud Control provider as a plugin process, under Groma and Terraform.

use std::path::Path;

use groma_scripted::cloud::{Event, Operation, Outcome, Store};

use crate::common::Folder;
use crate::common::normalization::terraform;
use crate::common::{kill, start};

/// The provider that this program is when [`crate::BEHAVIOR_VARIABLE`] says so.
pub const BEHAVIOR: &str = "cloud";

const CONFIGURATION: &str = r#"
terraform {
  required_providers {
    cloud = { source = "example/cloud" }
  }
}
variable "v" {}
provider "cloud" {
  store = abspath("store")
}
resource "cloud_object" "web" {
  name    = "web"
  replace = var.v
  lifecycle {
    create_before_destroy = true
  }
}
resource "cloud_object" "lb" {
  name = "lb"
  refs = [cloud_object.web.id]
}
"#;

fn prepared(folder: Folder) -> (Folder, Store) {
    let program = folder.path("plugins/terraform-provider-cloud");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(std::env::current_exe().unwrap(), program).unwrap();
    let plugins = folder.path("plugins");
    folder
        .write("cli.tfrc", &format!("provider_installation {{\n  dev_overrides {{\n    \"example/cloud\" = {plugins:?}\n  }}\n  direct {{}}\n}}\n"))
        .write("main.tf", CONFIGURATION);
    let settings = folder.path("cli.tfrc").display().to_string();
    let store = Store::at(folder.path("store"));
    (folder.with("TF_CLI_CONFIG_FILE", &settings).with(crate::BEHAVIOR_VARIABLE, BEHAVIOR), store)
}

/// Returns the operations that took place, as text.
fn done(store: &Store) -> Vec<String> {
    let events = store.events().unwrap().into_iter().filter(|event| event.outcome == Outcome::Done);
    events.map(|event: Event| format!("{} {}", event.operation.as_str(), event.object)).collect()
}

pub fn in_order() {
    let programs = std::iter::once(None).chain(terraform().map(Some));
    for program in programs {
        let folder = program.as_deref().map_or_else(Folder::new, |program: &Path| Folder::for_program(program));
        let (folder, store) = prepared(folder);
        folder.ok(&["apply", "-auto-approve", "-var=v=1"]);
        store.forget_events().unwrap();
        folder.ok(&["apply", "-auto-approve", "-var=v=2"]);
        assert_eq!(done(&store), ["create web#2", "update lb#1", "delete web#1"], "{program:?}");
    }
}

pub fn killed() {
    let (folder, store) = prepared(Folder::new());
    folder.ok(&["apply", "-auto-approve", "-var=v=1"]);
    store.forget_events().unwrap();
    store.wait(Operation::Update, "lb").unwrap();
    let run = start(&folder, &["-var=v=2"]);
    while !store.events().unwrap().iter().any(|event| event.operation == Operation::Update) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    kill(run);
    store.resume().unwrap();
    folder.ok(&["apply", "-auto-approve", "-var=v=2"]);
    let objects: Vec<String> = store.objects().unwrap().into_keys().collect();
    assert_eq!(objects, ["lb#1", "web#2"]);
    assert_eq!(done(&store).last().map(String::as_str), Some("delete web#1"));
}

/// Neither the journal nor the state may grow beyond 64 KiB.
pub fn limited_files() {
    let (folder, store) = prepared(Folder::new());
    let head = CONFIGURATION.split("resource").next().unwrap();
    folder.write(
        "main.tf",
        &format!("{head}resource \"cloud_object\" \"many\" {{\n  count = 400\n  name  = count.index\n}}\n"),
    );
    let ran = folder.run_limited("ulimit -f 128", &["apply", "-auto-approve", "-var=v=1", "-parallelism=2"]);
    let said = ran.err;
    assert_eq!(ran.code, 1, "{said}");
    assert!(said.contains("File too large") || said.contains("file too large"), "{said}");
    assert!(said.contains("ulimit -f"), "{said}");
    let made = store.objects().unwrap().len();
    assert!((1..400).contains(&made), "{made}: {said}");
    // Whatever was made is known.
    let applied = folder.ok(&["apply", "-auto-approve", "-var=v=1"]);
    assert!(applied.contains(&format!("{} added, 0 changed, 0 destroyed", 400 - made)), "{made} {applied}{said}");
    assert_eq!(store.objects().unwrap().len(), 400);
}
