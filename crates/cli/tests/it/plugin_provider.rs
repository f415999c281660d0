//! The Cloud Control provider three ways: in process, as a plugin under Groma, and as a plugin under Terraform.
//!
//! The plugin runs if there is a release build of `terraform-provider-awscc`, or one that `GROMA_AWSCC_PLUGIN` names: a build for
//! tests takes half a minute to describe all types, in each command.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json};

use crate::common::Folder;
use crate::common::normalization::terraform;

const CONFIGURATION: &str = r#"
terraform {
  required_providers {
    awscc = { source = "hashicorp/awscc" }
  }
}

provider "awscc" {
  region   = "eu-central-1"
  emulator = {}
}

variable "retention" {
  default = 14
}

variable "bucket" {
  default = "three-ways"
}

resource "awscc_s3_bucket" "assets" {
  bucket_name = var.bucket
  tags        = [{ key = "stage", value = "test" }, { key = "team", value = "web" }]

  versioning_configuration = {
    status = "Enabled"
  }
}

resource "awscc_logs_log_group" "web" {
  log_group_name    = "/three/ways"
  retention_in_days = var.retention
}

resource "awscc_sqs_queue" "jobs" {
  queue_name = "jobs"
}

resource "awscc_events_rule" "nightly" {
  name                = "nightly"
  schedule_expression = "rate(1 day)"
  targets             = [{ id = "jobs", arn = awscc_sqs_queue.jobs.arn }]
}

resource "awscc_rds_db_instance" "main" {
  db_instance_identifier = "main"
  db_instance_class      = "db.t3.micro"
  engine                 = "postgres"
  allocated_storage      = "20"
  master_username        = "administrator"
  master_user_password   = "correct-horse-${var.retention}"
}
"#;

/// Attributes that the emulator makes up from the number of calls before, which depends on the order of creations.
const RANDOM: [&str; 11] = [
    "automatic_restart_time",
    "db_instance_arn",
    "dbi_resource_id",
    "endpoint",
    "identity",
    "instance_create_time",
    "latest_restorable_time",
    "percent_progress",
    "private",
    "resume_full_automation_mode_time",
    "secondary_availability_zone",
];

/// Returns an optimized build of the plugin, if there is one.
fn plugin() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("GROMA_AWSCC_PLUGIN") {
        return Some(named.into());
    }
    let target = Path::new(env!("CARGO_BIN_EXE_terraform-provider-awscc")).parent()?.parent()?;
    Some(target.join("release/terraform-provider-awscc")).filter(|plugin| plugin.is_file())
}

/// Sets up the plugin for a program in place of packages.
fn with_plugin(folder: Folder, plugin: &Path) -> Folder {
    let plugins = plugin.parent().unwrap();
    let settings = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"hashicorp/awscc\" = {plugins:?}\n  }}\n  direct {{}}\n}}\n"
    );
    folder.write("cli.tfrc", &settings);
    let file = folder.path("cli.tfrc").display().to_string();
    folder.with("TF_CLI_CONFIG_FILE", &file).with("GROMA_AWSCC", "plugin")
}

/// Returns the value without what differs between two runs of the same program.
fn comparable(value: &Json) -> Json {
    match value {
        Json::Object(members) => {
            let kept = members.iter().filter(|(name, _)| !RANDOM.contains(&name.as_str()));
            let mut kept: Vec<(String, Json)> = kept.map(|(name, value)| (name.clone(), comparable(value))).collect();
            kept.sort_by(|left, right| left.0.cmp(&right.0));
            Json::Object(kept.into_iter().collect::<Map<_, _>>())
        }
        Json::Array(elements) => Json::Array(elements.iter().map(comparable).collect()),
        other => other.clone(),
    }
}

/// Returns the planned changes: addresses, actions and values.
fn changes(folder: &Folder, arguments: &[&str]) -> Json {
    folder.ok(&[&["plan", "-out=plan"], arguments].concat());
    let document: Json = serde_json::from_str(&folder.ok(&["show", "-json", "plan"])).unwrap();
    let changes = document["resource_changes"].as_array().cloned().unwrap_or_default();
    let mut changes: Vec<Json> = changes
        .iter()
        .map(|change| {
            let of = |name: &str| comparable(&change["change"][name]);
            let parts = ["actions", "after", "after_unknown", "replace_paths", "importing"];
            let mut members: Map<String, Json> = parts.iter().map(|name| ((*name).to_owned(), of(name))).collect();
            members.insert("address".to_owned(), change["address"].clone());
            Json::Object(members)
        })
        .collect();
    changes.sort_by_key(|change| change["address"].to_string());
    Json::Array(changes)
}

/// Returns the attributes of all objects in the state.
fn objects(folder: &Folder) -> Json {
    let state: Json = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
    let resources = state["resources"].as_array().unwrap();
    let mut objects: Vec<Json> = resources
        .iter()
        .map(|resource| {
            let attributes = comparable(&resource["instances"][0]["attributes"]);
            serde_json::json!({"name": resource["name"], "type": resource["type"], "attributes": attributes})
        })
        .collect();
    objects.sort_by_key(|object| object["type"].to_string());
    Json::Array(objects)
}

/// Runs the scenario. Returns a name and a result for each step.
fn scenario(folder: &Folder) -> Vec<(&'static str, Json)> {
    folder.write("main.tf", CONFIGURATION);
    let mut results = Vec::new();
    let mut step = |name: &'static str, arguments: &[&str]| {
        results.push((name, changes(folder, arguments)));
        folder.ok(&["apply", "-auto-approve", "plan"]);
        results.push((name, objects(folder)));
    };
    step("create", &[]);
    step("empty", &[]);
    step("update", &["-var=retention=30"]);
    let queue = "https://sqs.eu-central-1.amazonaws.com/123456789012/jobs";
    let delay = r#"[{"op": "replace", "path": "/DelaySeconds", "value": 9}]"#;
    folder.also_for(Path::new(env!("CARGO_BIN_EXE_groma"))).ok(&["emulator", "patch", "AWS::SQS::Queue", queue, delay]);
    step("drift", &["-var=retention=30"]);
    step("replace", &["-var=retention=30", "-var=bucket=three-ways-more"]);
    folder.ok(&["state", "rm", "awscc_sqs_queue.jobs"]);
    folder.write("import.tf", &format!("import {{\n  to = awscc_sqs_queue.jobs\n  id = \"{queue}\"\n}}\n"));
    step("import", &["-var=retention=30", "-var=bucket=three-ways-more"]);
    step("destroy", &["-destroy"]);
    results
}

#[test]
fn scenario_is_the_same_three_ways_in_process_and_as_a_plugin() {
    let expected = scenario(&Folder::new());
    assert_eq!(expected[0].1.as_array().unwrap().len(), 5);
    let Some(plugin) = plugin() else {
        eprintln!("skipped: there is no release build of terraform-provider-awscc, and GROMA_AWSCC_PLUGIN names none");
        return;
    };
    let mut programs = vec![("plugin under groma", with_plugin(Folder::new(), &plugin))];
    match terraform() {
        Some(program) => {
            programs.push(("plugin under Terraform", with_plugin(Folder::for_program(&program), &plugin)));
        }
        None => eprintln!("skipped: GROMA_TERRAFORM does not name a Terraform 1.15"),
    }
    for (program, folder) in programs {
        for ((name, found), (_, expected)) in scenario(&folder).iter().zip(&expected) {
            assert_eq!(format!("{found:#}"), format!("{expected:#}"), "{program}, {name}");
        }
    }
}
