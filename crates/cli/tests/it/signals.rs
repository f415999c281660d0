//! Signals, and systems that refuse further threads.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader};
use std::process::Command;

use crate::common::Folder;

/// A resource whose creation goes on until the program that it runs is interrupted.
const WAITING: &str = "resource \"terraform_data\" \"it\" {\n  provisioner \"local-exec\" {\n    \
                       command = \"trap 'echo put in order; exit 7' INT; echo begun; sleep 60\"\n  }\n}\n";

/// Runs an apply by way of `wrapper`, sends it a hangup once the provisioner runs, and returns what it says and its exit code.
fn hung_up(folder: &Folder, wrapper: &[&str]) -> (String, Option<i32>) {
    let apply = folder.command(&["apply", "-auto-approve"]);
    let mut words = wrapper.iter().map(|word| (*word).into()).chain([apply.get_program().to_owned()]);
    let mut command = Command::new(words.next().unwrap());
    command.args(words).args(apply.get_args()).current_dir(folder.path("")).env("HOME", folder.path("home"));
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut said: Vec<String> = Vec::new();
    for line in lines.by_ref() {
        let is_begun = line.contains("(local-exec): begun");
        said.push(line);
        if is_begun {
            break;
        }
    }
    let pid = child.id().to_string();
    Command::new("kill").args(["-HUP", &pid]).status().unwrap();
    if wrapper.is_empty() {
        said.extend(lines);
    } else {
        // It goes on, so it is ended in the usual way.
        Command::new("kill").args(["-INT", &pid]).status().unwrap();
        said.extend(lines);
    }
    (said.join("\n"), child.wait().unwrap().code())
}

#[test]
fn a_hangup_stops_a_run_as_an_interrupt_does() {
    let folder = Folder::new();
    folder.write("main.tf", WAITING);
    let (said, code) = hung_up(&folder, &[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("Gracefully shutting down"), "{said}");
    assert!(said.contains("(local-exec): put in order"), "{said}");
    let state: serde_json::Value = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
    assert_eq!(state["resources"][0]["instances"][0]["status"], "tainted");
}

#[test]
fn a_run_that_is_to_outlive_its_terminal_does() {
    let folder = Folder::new();
    folder.write("main.tf", WAITING);
    let (said, code) = hung_up(&folder, &["nohup"]);
    assert_eq!(code, Some(1), "{said}");
    // The interrupt after the hangup is the first one.
    assert!(!said.contains("Two interrupts received"), "{said}");
    assert!(said.contains("(local-exec): put in order"), "{said}");
}
