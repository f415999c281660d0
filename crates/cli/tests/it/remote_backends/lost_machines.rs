//! Runs that are killed together with the disk of their machine: only the store and the cloud are left.
//!
//! `GROMA_TEST_LOST_MACHINES` sets how many machines are lost over each store (4 by default), `GROMA_TEST_SEED` repeats the
//! moments of a run.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::Project;
use super::postgres::Server;
use super::s3::Moto;
use crate::common::random::{SplitMix, moment, seed, setting};

/// Objects of which the service would make a second one, and some that depend on them.
const OBJECTS: usize = 30;

fn estate(backend: &str, cloud: &Path) -> String {
    format!(
        r#"
terraform {{
{backend}
  required_providers {{
    awscc = {{ source = "hashicorp/awscc" }}
  }}
}}
variable "value" {{ default = "first" }}
provider "awscc" {{
  region   = "eu-central-1"
  emulator = {{ delay = "150ms", path = {cloud:?} }}
}}
resource "awscc_sqs_queue" "it" {{
  count = 15
}}
resource "awscc_ssm_parameter" "it" {{
  count = 15
  name  = "/${{var.value}}/${{count.index}}"
  type  = "String"
  value = awscc_sqs_queue.it[count.index].arn
}}
"#
    )
}

/// Lets the lock of a lost machine end.
type EndLock<'a> = &'a dyn Fn();

/// Loses one machine in the middle of an apply; another one goes on.
fn lose_machine(backend: &str, after: Duration, number: usize, end_lock: EndLock<'_>) {
    let what = format!("machine {number}, lost after {after:?}");
    let account = tempfile::tempdir().unwrap();
    let cloud = account.path().join("cloud.json");
    let configuration = estate(backend, &cloud);
    let mut arguments = vec!["apply", "-auto-approve", "-lock-timeout=30s"];
    if number % 2 == 1 {
        // The lost machine replaces objects that are there already.
        let first = Project::new(&configuration);
        first.ok(&["init"]);
        first.ok(&arguments);
        arguments.push("-var=value=second");
    }
    let lost = Project::new(&configuration);
    lost.ok(&["init"]);
    let mut child = lost.start(&arguments);
    thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    drop(lost);
    end_lock();

    let next = Project::new(&configuration);
    next.ok(&["init"]);
    let ran = next.run(&arguments);
    assert_eq!(ran.code, 0, "{what}: {}", ran.text);
    let listed = next.ok(&["emulator", "list", &format!("-data={}", cloud.display())]);
    let made: BTreeSet<&str> = listed.lines().filter_map(|line| Some(line.split_once(' ')?.1)).collect();
    let state = next.state();
    let known = identifiers(&state, &what);
    assert_eq!(
        made,
        known.iter().map(String::as_str).collect(),
        "{what}: left the objects, right the state\n{}",
        ran.text
    );
    assert_eq!(known.len(), OBJECTS, "{what}: {}", ran.text);
    let planned = next.run(&[&["plan", "-detailed-exitcode"], &arguments[3..]].concat());
    assert_eq!(planned.code, 0, "{what}: {}", planned.text);
    // The next machine begins with an empty account.
    next.ok(&[&["destroy", "-auto-approve"], &arguments[3..]].concat());
}

/// Returns the identifiers in a state, all of whole objects.
fn identifiers(state: &Json, what: &str) -> BTreeSet<String> {
    let instances = state["resources"].as_array().unwrap().iter().flat_map(|resource| resource["instances"].as_array());
    let mut known = BTreeSet::new();
    for instance in instances.flatten() {
        assert!(instance["status"].is_null() && instance["deposed"].is_null(), "{what}: {instance}");
        assert!(known.insert(instance["attributes"]["id"].as_str().unwrap().to_owned()), "{what}: {instance}");
    }
    known
}

/// Loses machines at moments that are spread over a whole run.
fn lose_machines(backend: &str, end_lock: EndLock<'_>) {
    let count = setting("GROMA_TEST_LOST_MACHINES", 4) as usize;
    let account = tempfile::tempdir().unwrap();
    let project = Project::new(&estate(backend, &account.path().join("cloud.json")));
    project.ok(&["init"]);
    let begin = Instant::now();
    project.ok(&["apply", "-auto-approve"]);
    let takes = begin.elapsed();
    project.ok(&["destroy", "-auto-approve"]);
    let mut random = SplitMix(seed());
    for number in 0..count {
        lose_machine(backend, moment(&mut random, takes, number, count), number, end_lock);
    }
}

#[test]
fn machine_lost_over_pg_loses_and_doubles_nothing() {
    let Some(server) = Server::start() else { return };
    lose_machines(&server.backend("lost"), &|| {});
}

#[test]
fn machine_lost_over_s3_loses_and_doubles_nothing() {
    let Some(moto) = Moto::start() else { return };
    // The lock of the lost machine ends by itself, but not within the patience of a test.
    let end_lock = || {
        let Some(mut lock) = moto.get("lost.tfstate.tflock") else { return };
        assert!(lock["Deadline"].is_string(), "{lock}");
        lock["Deadline"] = "2020-01-01T00:00:00Z".into();
        moto.put("lost.tfstate.tflock", &lock);
    };
    lose_machines(&moto.backend("lost.tfstate", "use_lockfile = true"), &end_lock);
}
