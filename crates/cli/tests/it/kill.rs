//! Killed runs: no reported result is lost, nothing is created twice, and `lifecycle` arguments apply to the objects.
//!
//! `GROMA_TEST_KILLS` sets how many runs are killed (50 by default), `GROMA_TEST_HTTP_KILLS` how many over HTTP (8), `GROMA_TEST_SEED` repeats the moments of a run.

use std::collections::BTreeSet;
use std::fs::File;
use std::process::Child;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::common::random::{SplitMix, each, moment, seed, setting};
use crate::common::serving::serve_emulator;
use crate::common::{Folder, Ran, identifiers, interrupt, kill, start, start_run, until_said};

/// Sixty objects: types that the service names, so that a second object shows, and types where a second one is refused.
const ESTATE: &str = r#"
terraform {
  required_providers {
    awscc = { source = "hashicorp/awscc" }
  }
}

variable "delay" { default = "100ms" }
variable "value" { default = "first" }
variable "retention" { default = 7 }

provider "awscc" {
  region   = "eu-central-1"
  emulator = { delay = var.delay }
}

resource "awscc_ssm_parameter" "it" {
  count = 15
  name  = "/${var.value}/${count.index}"
  type  = "String"
  value = var.value
}

resource "awscc_sqs_queue" "it" {
  count              = 15
  visibility_timeout = var.retention * 10
}

resource "awscc_logs_log_group" "it" {
  for_each          = toset([for n in range(15) : "group-${n}"])
  log_group_name    = each.key
  retention_in_days = var.retention
}

resource "awscc_ec2_internet_gateway" "it" {
  count = 15
  tags  = [{ key = "queue", value = awscc_sqs_queue.it[count.index].arn }]
}
"#;
const OBJECTS: usize = 60;

fn kill_after(child: Child, moment: Duration) {
    std::thread::sleep(moment);
    kill(child);
}

/// The addresses and identifiers of objects that a run said it had made.
fn reported(folder: &Folder) -> Vec<(String, String)> {
    let said = folder.read("said");
    let made = said.lines().filter_map(|line| {
        let (address, rest) = line.split_once(": Creation complete after ")?;
        Some((address.to_owned(), rest.split_once("[id=")?.1.strip_suffix(']')?.to_owned()))
    });
    made.collect()
}

/// The addresses and identifiers of what the state knows, in words of the state file.
fn known(folder: &Folder) -> BTreeSet<(String, String)> {
    let state: Json = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
    let mut known = BTreeSet::new();
    for resource in state["resources"].as_array().unwrap() {
        for instance in resource["instances"].as_array().unwrap() {
            // An interrupted creation must end as one object: neither tainted nor left over.
            assert_eq!(instance["status"], Json::Null, "{instance}");
            assert_eq!(instance["deposed"], Json::Null, "{instance}");
            let key = &instance["index_key"];
            let key = if key.is_null() { String::new() } else { format!("[{key}]") };
            let address = format!("{}.{}{key}", resource["type"].as_str().unwrap(), resource["name"].as_str().unwrap());
            assert!(known.insert((address, instance["attributes"]["id"].as_str().unwrap().to_owned())), "{instance}");
        }
    }
    known
}

/// After the run that goes on: everything is there once and known.
fn whole(folder: &Folder, ran: &Ran, arguments: &[&str], what: &str) {
    assert_eq!(ran.code, 0, "{what}\n{}{}", ran.out, ran.err);
    // The identifiers are compared with the service's own list: what the state lacks would be lost.
    let known: BTreeSet<String> = known(folder).into_iter().map(|(_, id)| id).collect();
    assert_eq!(identifiers(folder), known, "{what}: left the objects, right the state\n{}", ran.out);
    assert_eq!(known.len(), OBJECTS, "{what}\n{}", ran.out);
    // The recorded attributes are complete as well: nothing is left to change.
    let planned = folder.run(&[&["plan", "-detailed-exitcode"], arguments].concat());
    assert_eq!(planned.code, 0, "{what}\n{}{}", planned.out, planned.err);
}

/// One life: a run killed at a moment, now and then a second one too, then one that goes on. Whether the kill came while
/// objects were being made.
fn survive(moment: Duration, number: usize) -> bool {
    let what = format!("run {number}, killed after {moment:?}");
    let folder = Folder::new();
    folder.write("main.tf", ESTATE);
    let mut arguments: &[&str] = &[];
    if number % 3 == 2 {
        // The killed run replaces the parameters, and changes queues and groups.
        folder.ok(&["apply", "-auto-approve", "-var=delay=0ms"]);
        arguments = &["-var=value=second", "-var=retention=14"];
    }
    kill_after(start(&folder, arguments), moment);
    // What the killed run printed is a promise: the object must be in the state, whatever came after.
    let mut made = reported(&folder);
    let said = folder.read("said");
    let in_flight = (said.contains(": Creating...") || said.contains(": Modifying...")) && !said.contains("complete!");
    // Some runs are killed twice: the recovery itself may be interrupted.
    if number % 5 == 4 {
        kill_after(start(&folder, arguments), moment / 2);
        made.extend(reported(&folder));
    }
    let goes_on = [&["apply", "-auto-approve"], arguments].concat();
    let ran = folder.run(&goes_on);
    whole(&folder, &ran, arguments, &what);
    let known = known(&folder);
    for object in made {
        assert!(known.contains(&object), "{what}: {object:?} was reported and is missing from the state\n{}", ran.out);
    }
    in_flight
}

#[test]
fn killed_run_loses_nothing_and_creates_nothing_twice() {
    let kills = setting("GROMA_TEST_KILLS", 50) as usize;
    let mut random = SplitMix(seed());
    let folder = Folder::new();
    folder.write("main.tf", ESTATE);
    let begin = Instant::now();
    let ran = folder.run(&["apply", "-auto-approve"]);
    let takes = begin.elapsed();
    whole(&folder, &ran, &[], "not killed");
    println!("a run takes {takes:?}");
    let moments: Vec<Duration> = (0..kills).map(|number| moment(&mut random, takes, number, kills)).collect();
    let in_flight = AtomicUsize::new(0);
    each(kills, |number| {
        in_flight.fetch_add(usize::from(survive(moments[number], number)), Ordering::Relaxed);
    });
    let in_flight = in_flight.into_inner();
    println!("{in_flight} of {kills} runs were killed while they made objects");
    // How many is for the reader: a slow machine must not decide.
}

/// Types whose objects the service names, so that every request makes another object.
const UNNAMED_OBJECTS: &str = r#"
resource "awscc_sqs_queue" "it" {
}

resource "awscc_ec2_internet_gateway" "it" {
  tags = [{ key = "queue", value = awscc_sqs_queue.it.arn }]
}
"#;

#[test]
fn killed_run_over_http_continues_its_requests() {
    let kills = setting("GROMA_TEST_HTTP_KILLS", 8) as usize;
    let mut random = SplitMix(seed());
    let service = Folder::new();
    let (serving, address) = serve_emulator(&service, &["-delay=150ms", "-latency=10ms"]);
    let configuration = format!(
        "provider \"awscc\" {{\n  region = \"eu-central-1\"\n  access_key = \"x\"\n  secret_key = \"x\"\n  endpoints = {{ cloudcontrolapi \
         = \"http://{address}\" }}\n}}\n{UNNAMED_OBJECTS}"
    );
    let begin = Instant::now();
    let first = Folder::new();
    first.write("main.tf", &configuration).ok(&["apply", "-auto-approve"]);
    let takes = begin.elapsed();
    println!("a run takes {takes:?}");
    let moments: Vec<Duration> = (0..kills).map(|number| moment(&mut random, takes, number, kills)).collect();
    let created = Mutex::new(known(&first));
    each(kills, |number| {
        let folder = Folder::new();
        folder.write("main.tf", &configuration);
        kill_after(start(&folder, &[]), moments[number]);
        let ran = folder.run(&["apply", "-auto-approve"]);
        assert_eq!(ran.code, 0, "run {number}, killed after {:?}\n{}{}", moments[number], ran.out, ran.err);
        let objects = known(&folder);
        assert_eq!(objects.len(), 2, "run {number}");
        created.lock().unwrap().extend(objects);
    });
    drop(serving);
    // Each run has objects of its own, and the service has no others.
    let created: BTreeSet<String> = created.into_inner().unwrap().into_iter().map(|(_, id)| id).collect();
    assert_eq!(created.len(), 2 * (kills + 1));
    assert_eq!(identifiers(&service), created, "left the objects, right the states");
}

/// Ten queues that are there already, and where they were put away.
fn provisioned_emulator() -> (String, Vec<String>) {
    let folder = Folder::new();
    folder.write("main.tf", &format!("{HEAD}{QUEUES}"));
    folder.ok(&["apply", "-auto-approve", "-var=delay=0ms"]);
    let ids = known(&folder).into_iter().map(|(_, id)| id).collect();
    (folder.read("groma-emulator.json"), ids)
}

const HEAD: &str = r#"
terraform {
  required_providers {
    awscc = { source = "hashicorp/awscc" }
  }
}

variable "delay" { default = "50ms" }

provider "awscc" {
  region   = "eu-central-1"
  emulator = { delay = var.delay }
}
"#;

const QUEUES: &str = r#"
resource "awscc_sqs_queue" "it" {
  count = 10
}
"#;

#[test]
fn killed_import_is_recorded_or_not_started() {
    let kills = (setting("GROMA_TEST_KILLS", 50) as usize).div_ceil(4);
    let mut random = SplitMix(seed());
    let (estate, ids) = provisioned_emulator();
    let blocks: String = (0..)
        .zip(&ids)
        .map(|(n, id)| format!("import {{\n  to = awscc_sqs_queue.it[{n}]\n  id = {id:?}\n}}\n"))
        .collect();
    let parameters = r#"
        resource "awscc_ssm_parameter" "it" {
          count = 10
          name  = "/it/${count.index}"
          type  = "String"
          value = awscc_sqs_queue.it[count.index].arn
        }"#;
    let fresh = |more: &str| {
        let folder = Folder::new();
        folder.write("groma-emulator.json", &estate);
        folder.write("main.tf", &format!("{HEAD}{QUEUES}{more}"));
        folder
    };
    let (with_blocks, single) = (format!("{parameters}\n{blocks}"), ["import", "awscc_sqs_queue.it[0]", &*ids[0]]);
    // How long each kind of run takes here, so that kills fall into all of its phases.
    let takes = [fresh(&with_blocks), fresh("")].map(|folder| {
        let begin = Instant::now();
        folder.ok(if folder.read("main.tf").contains("import {") { &["apply", "-auto-approve"] } else { &single });
        begin.elapsed()
    });
    let moments: Vec<[Duration; 2]> =
        (0..kills).map(|number| takes.map(|takes| moment(&mut random, takes, number, kills))).collect();
    each(kills, |number| {
        let what = format!("run {number}, killed after {:?}", moments[number]);
        let folder = fresh(&with_blocks);
        kill_after(start(&folder, &[]), moments[number][0]);
        folder.ok(&["apply", "-auto-approve"]);
        let state: BTreeSet<String> = known(&folder).into_iter().map(|(_, id)| id).collect();
        assert_eq!((state.len(), &state), (20, &identifiers(&folder)), "{what}");
        let folder = fresh("");
        kill_after(start_run(&folder, &single), moments[number][1]);
        let claimed = folder.read("said").contains("Import successful!");
        let again = folder.run(&single);
        let was_known = again.err.contains("Resource already managed");
        // The first run was either not begun for the state, or the second one refuses to repeat it.
        assert!(was_known || (again.code == 0 && !claimed), "{what}\n{}{}", again.out, again.err);
        assert_eq!(folder.ok(&["state", "list"]), "awscc_sqs_queue.it[0]\n", "{what}");
    });
}

const DATA: &str = r#"
variable "value" { default = "first" }

resource "terraform_data" "it" {
  count            = 1500
  input            = var.value
  triggers_replace = count.index % 2 == 0 ? var.value : "never"
}
"#;

#[test]
fn killed_run_keeps_all_reported_results() {
    let kills = (setting("GROMA_TEST_KILLS", 50) as usize).div_ceil(3);
    let mut random = SplitMix(seed());
    let folder = Folder::new();
    folder.write("main.tf", DATA);
    let begin = Instant::now();
    folder.ok(&["apply", "-auto-approve"]);
    let takes = begin.elapsed();
    println!("a run takes {takes:?}");
    let before = known(&folder);
    let moments: Vec<Duration> = (0..kills).map(|number| moment(&mut random, takes, number, kills)).collect();
    each(kills, |number| {
        let what = format!("run {number}, killed after {:?}", moments[number]);
        let run = Folder::new();
        run.write("main.tf", DATA);
        let mut arguments: &[&str] = &[];
        if number % 2 == 1 {
            run.write("terraform.tfstate", &folder.read("terraform.tfstate"));
            arguments = &["-var=value=second"];
        }
        kill_after(start(&run, arguments), moments[number]);
        let made = reported(&run);
        let listed = run.run(&["state", "list"]);
        // A run killed before its first write has no state file, which is the only accepted failure.
        assert_eq!(listed.code, i32::from(listed.err.contains("No state file was found")), "{what}\n{}", listed.err);
        run.ok(&[&["apply", "-auto-approve"], arguments].concat());
        let known = known(&run);
        assert_eq!(known.len(), 1500, "{what}");
        for object in made {
            assert!(known.contains(&object), "{what}: {object:?} was reported and is missing from the state");
        }
        if number % 2 == 1 {
            let kept = known.intersection(&before).count();
            assert_eq!(kept, 750, "{what}: what is not replaced keeps its identity");
        }
        assert_eq!(run.run(&[&["plan", "-detailed-exitcode"], arguments].concat()).code, 0, "{what}");
    });
}

/// Twenty slow objects, ten of which are under way at a time.
fn slow() -> Folder {
    let folder = Folder::new();
    let queues = ESTATE.split("resource ").next().unwrap().to_owned()
        + "resource \"awscc_sqs_queue\" \"it\" {\n  count = 20\n}\n";
    folder.write("main.tf", &queues);
    folder
}

#[test]
fn interrupted_once_requests_are_cancelled_and_leave_nothing() {
    let folder = slow();
    let mut child = start(&folder, &["-var=delay=1500ms"]);
    until_said(&folder, ": Creating...", 10);
    interrupt(&child);
    let status = child.wait().unwrap();
    let said = folder.read("said");
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("Interrupt received."), "{said}");
    // No operation starts after the interrupt.
    assert_eq!(said.matches(": Creating...").count(), 10, "{said}");
    // Cloud Control cancels what it has not finished, so neither the account nor the state has the objects.
    assert_eq!(said.matches("the request was cancelled").count(), 10, "{said}");
    assert_eq!(known(&folder).len(), 0);
    assert_eq!(identifiers(&folder).len(), 0);
    let ran = folder.run(&["apply", "-auto-approve"]);
    assert!(ran.out.contains("Resources: 20 added, 0 changed, 0 destroyed."), "{}{}", ran.out, ran.err);
    assert_eq!(identifiers(&folder).len(), 20);
}

#[test]
fn second_interrupt_stops_immediately_and_saves() {
    let folder = slow();
    let mut child = start(&folder, &["-var=delay=5s", "-parallelism=5"]);
    until_said(&folder, ": Creating...", 5);
    interrupt(&child);
    until_said(&folder, "Interrupt received.", 1);
    let begin = Instant::now();
    interrupt(&child);
    let status = child.wait().unwrap();
    let said = folder.read("said");
    assert_eq!(status.code(), Some(1), "{said}");
    // Much less than an operation takes: the program did not wait for it.
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}\n{said}", begin.elapsed());
    serde_json::from_str::<Json>(&folder.read("terraform.tfstate")).unwrap();
    // What was under way is asked after, not made again.
    let ran = folder.run(&["apply", "-auto-approve"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert_eq!(known(&folder).len(), 20);
    assert_eq!(identifiers(&folder).len(), 20, "{}", ran.out);
    assert_eq!(folder.run(&["plan", "-detailed-exitcode"]).code, 0);
}

#[test]
fn interrupt_at_the_prompt_changes_nothing() {
    let folder = slow();
    let said = File::create(folder.path("said")).unwrap();
    let mut command = folder.command(&["apply"]);
    let mut child = command.stderr(said.try_clone().unwrap()).stdout(said).spawn().unwrap();
    until_said(&folder, "Enter a value:", 1);
    interrupt(&child);
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > Duration::from_secs(5) {
            child.kill().unwrap();
            panic!("it still waits for an answer");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(child.wait().unwrap().code(), Some(1), "{}", folder.read("said"));
    assert!(!folder.path("terraform.tfstate").exists());
    folder.ok(&["apply", "-auto-approve"]);
    assert_eq!(identifiers(&folder).len(), 20);
}

#[test]
fn warns_about_interrupted_operations_on_stderr() {
    let folder = slow();
    folder.ok(&["apply", "-auto-approve", "-target=awscc_sqs_queue.it[0]"]);
    let child = start(&folder, &["-var=delay=5s"]);
    until_said(&folder, ": Creating...", 10);
    kill(child);
    for arguments in [&["state", "pull"][..], &["show", "-json"], &["output", "-json"]] {
        let ran = folder.run(arguments);
        serde_json::from_str::<Json>(&ran.out)
            .unwrap_or_else(|problem| panic!("{arguments:?}: {problem}\n{}", ran.out));
        assert!(ran.err.contains("Unfinished operations of an interrupted run"), "{arguments:?}: {}", ran.err);
    }
    assert_eq!(folder.ok(&["state", "list"]), "awscc_sqs_queue.it[0]\n");
}

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

/// The objects of the state.
fn state_objects(folder: &Folder) -> Vec<Json> {
    let state: Json = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
    let resources = state["resources"].as_array().unwrap();
    resources.iter().flat_map(|resource| resource["instances"].as_array().unwrap().clone()).collect()
}

#[test]
fn destroy_false_is_kept_after_kill_if_the_block_is_removed() {
    let folder = Folder::new();
    folder.write("main.tf", &queue(KEPT));
    killed(&folder, &[], ": Creating...");
    folder.write("main.tf", PROVIDER);
    let ran = folder.ok(&["apply", "-auto-approve"]);
    assert!(ran.contains("will no longer be managed by Terraform"), "{ran}");
    assert_eq!((identifiers(&folder).len(), state_objects(&folder).len()), (1, 0), "{ran}");
}

#[test]
fn destroy_false_of_a_killed_update_is_kept_if_the_block_is_removed() {
    let folder = Folder::new();
    folder.write("main.tf", &queue(""));
    folder.ok(&["apply", "-auto-approve"]);
    folder.write("main.tf", &queue(KEPT));
    killed(&folder, &["-var=timeout=20"], ": Modifying...");
    folder.write("main.tf", PROVIDER);
    let ran = folder.ok(&["apply", "-auto-approve"]);
    assert_eq!((identifiers(&folder).len(), state_objects(&folder).len()), (1, 0), "{ran}");
}

#[test]
fn destroyable_object_of_a_killed_run_is_destroyed() {
    let folder = Folder::new();
    folder.write("main.tf", &queue(""));
    killed(&folder, &[], ": Creating...");
    folder.write("main.tf", PROVIDER);
    let ran = folder.ok(&["apply", "-auto-approve"]);
    assert_eq!((identifiers(&folder).len(), state_objects(&folder).len()), (0, 0), "{ran}");
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
    assert_eq!((identifiers(&folder).len(), state_objects(&folder).len()), (1, 1), "{ran}");
}
