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
fn hangup_stops_a_run_like_an_interrupt() {
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
fn ignored_hangup_does_not_stop_a_run() {
    let folder = Folder::new();
    folder.write("main.tf", WAITING);
    let (said, code) = hung_up(&folder, &["nohup"]);
    assert_eq!(code, Some(1), "{said}");
    // The interrupt after the hangup is the first one.
    assert!(!said.contains("Two interrupts received"), "{said}");
    assert!(said.contains("(local-exec): put in order"), "{said}");
}

/// Whether limits on threads can be tested: they do not hold for the superuser, who can become somebody else.
fn can_become_somebody_else() -> bool {
    let tried = Command::new("setpriv").args(["--reuid=65534", "--clear-groups", "prlimit", "--version"]).output();
    let is_possible = tried.is_ok_and(|ran| ran.status.success());
    if !is_possible {
        println!("skipped: no other user");
    }
    is_possible
}

#[test]
fn thread_that_cannot_be_started_is_an_error_with_advice() {
    use std::os::unix::fs::PermissionsExt;
    if !can_become_somebody_else() {
        return;
    }
    let folder = Folder::new();
    folder.write("main.tf", "module \"m\" {\n  source = \"registry.example.invalid/a/b/c\"\n}\n");
    folder.write("own/main.tf", &WAITING.replace("sleep 60", "true"));
    // By another process: a program that this one has open for writing cannot be started while a child inherits the file.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_groma")).arg(folder.path("groma")).status().unwrap();
    assert!(copied.success());
    for path in ["", "own", "groma"] {
        std::fs::set_permissions(folder.path(path), PermissionsExt::from_mode(0o777)).unwrap();
    }
    let program = folder.path("groma").display().to_string();
    for arguments in [&["init"][..], &["-chdir=own", "apply", "-auto-approve"], &["-chdir=own", "validate"]] {
        let mut advised = false;
        for limit in 1..=4 {
            let mut command = Command::new("setpriv");
            let limited = ["--reuid=65534", "--clear-groups", "prlimit", &format!("--nproc={limit}"), &program];
            command.args(limited).args(arguments).current_dir(folder.path("")).env("HOME", folder.path("home"));
            let ran = command.stdin(std::process::Stdio::null()).output().unwrap();
            let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
            let words: Vec<&str> = said.split_whitespace().filter(|word| *word != "│").collect();
            assert!(matches!(ran.status.code(), Some(0 | 1)), "{arguments:?} {limit}: {said}");
            advised |= words.join(" ").contains("ulimit -u");
        }
        assert!(advised, "{arguments:?}");
    }
}
