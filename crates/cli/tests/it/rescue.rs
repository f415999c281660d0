//! States that can be written nowhere are printed: by each command that has asked providers for something.
#![cfg(unix)]

use serde_json::Value as Json;

use crate::common::{Folder, Ran};

/// No file may grow beyond 4 KiB, and the state is longer.
const LIMIT: &str = "ulimit -f 8";

fn folder(more: &str) -> Folder {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        &format!("resource \"terraform_data\" \"long\" {{\n  input = join(\"\", [for n in range(1000) : \"long, and longer\"])\n}}\n{more}"),
    );
    folder
}

/// The messages of a command with -json: each line is one.
fn messages(ran: &Ran) -> Vec<Json> {
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

#[test]
fn apply_prints_an_unwritable_state() {
    let folder = folder("");
    let ran = folder.run_limited(LIMIT, &["apply", "-auto-approve"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("Failed to save state") && ran.err.contains("state push -force FILE"), "{}", ran.err);
    let state = &ran.out[ran.out.find("{\n  \"version\": 4").unwrap()..=ran.out.rfind('}').unwrap()];
    // The printed advice works.
    folder.write("printed", state);
    folder.ok(&["state", "push", "-force", "printed"]);
    assert_eq!(folder.ok(&["state", "list"]), "terraform_data.long\n");
    assert!(folder.ok(&["plan"]).contains("No changes"));
}

#[test]
fn apply_in_json_prints_an_unwritable_state_as_message() {
    let folder = folder("");
    let ran = folder.run_limited(LIMIT, &["apply", "-auto-approve", "-json"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let messages = messages(&ran);
    let dump = messages.iter().find(|message| message["@message"] == "Emergency state dump").unwrap();
    assert_eq!((&dump["type"], &dump["@level"]), (&"log".into(), &"info".into()));
    assert_eq!(dump["state"]["resources"][0]["name"], "long");
    let problem = messages.iter().find(|message| message["diagnostic"]["summary"] == "Failed to save state").unwrap();
    assert!(problem["diagnostic"]["detail"].as_str().unwrap().contains("Emergency state dump"), "{problem}");
}

#[test]
fn import_prints_an_unwritable_state() {
    let folder = folder(
        "terraform {\n  required_providers {\n    awscc = { source = \"hashicorp/awscc\" }\n  }\n}\nprovider \"awscc\" {\n  \
         region   = \"eu-central-1\"\n  emulator = {}\n}\nresource \"awscc_sqs_queue\" \"made\" {\n  queue_name = \"jobs\"\n}\n",
    );
    folder.ok(&["apply", "-auto-approve"]);
    let id = folder.ok(&["emulator", "list"]).trim().rsplit(' ').next().unwrap().to_owned();
    folder.ok(&["state", "rm", "awscc_sqs_queue.made"]);
    let ran = folder.run_limited(LIMIT, &["import", "awscc_sqs_queue.made", &id]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("Failed to save state"), "{}", ran.err);
    assert!(!ran.out.contains("Import successful"), "{}", ran.out);
    let state = &ran.out[ran.out.find("{\n  \"version\": 4").unwrap()..=ran.out.rfind('}').unwrap()];
    let state: Json = serde_json::from_str(state).unwrap();
    let names: Vec<&Json> = state["resources"].as_array().unwrap().iter().map(|resource| &resource["name"]).collect();
    assert_eq!(names, ["made", "long"]);
}
