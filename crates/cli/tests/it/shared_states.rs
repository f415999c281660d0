//! State files shared with Terraform, other directories and concurrent commands, and their locks.

use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::common::normalization::terraform;
use crate::common::serving::KillOnDrop;
use crate::common::{Folder, identifiers, kill, start};

/// Objects that take their time, five at once.
const SLOW: &str = r#"
terraform {
  required_providers {
    awscc = { source = "hashicorp/awscc" }
  }
}

variable "delay" { default = "0ms" }

provider "awscc" {
  region   = "eu-central-1"
  emulator = { delay = var.delay }
}

resource "awscc_sqs_queue" "it" {
  count = 20
}
"#;

/// The identifiers of the objects in a state file; none where it is not one, or not there.
fn known(text: &str) -> Option<Vec<String>> {
    let state: Json = serde_json::from_str(text).ok()?;
    assert_eq!(state["version"], 4);
    let instances =
        state["resources"].as_array()?.iter().flat_map(|resource| resource["instances"].as_array().unwrap());
    Some(instances.map(|instance| instance["attributes"]["id"].as_str().unwrap().to_owned()).collect())
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it takes too long until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn killed_run_leaves_readable_state() {
    let folder = Folder::new();
    folder.write("main.tf", SLOW);
    let child = start(&folder, &["-var=delay=300ms", "-parallelism=5"]);
    let state = folder.path("terraform.tfstate");
    let objects = || known(&std::fs::read_to_string(&state).unwrap_or_default()).unwrap_or_default();
    until("the first object is in the state file", || !objects().is_empty());
    kill(child);
    let killed = known(&folder.read("terraform.tfstate")).expect("a killed run leaves a state that can be read");
    assert!(!killed.is_empty());
    folder.ok(&["apply", "-auto-approve"]);
    let whole = known(&folder.read("terraform.tfstate")).unwrap();
    assert!(killed.iter().all(|id| whole.contains(id)), "{killed:?} {whole:?}");
    assert_eq!(identifiers(&folder).len(), 20, "nothing was made twice");
    assert_eq!(whole.len(), 20);
}

#[cfg(unix)]
#[test]
fn directories_that_link_to_one_state_share_its_journal() {
    let folder = Folder::new();
    folder.write("main.tf", SLOW).write("shared/note", "");
    std::os::unix::fs::symlink("shared/real.tfstate", folder.path("terraform.tfstate")).unwrap();
    let other = Folder::new();
    other.write("main.tf", SLOW);
    std::os::unix::fs::symlink(folder.path("shared/real.tfstate"), other.path("terraform.tfstate")).unwrap();
    // Both folders talk to one service.
    std::os::unix::fs::symlink(folder.path("groma-emulator.json"), other.path("groma-emulator.json")).unwrap();
    let child = start(&folder, &["-var=delay=300ms", "-parallelism=5"]);
    until("some objects are made", || folder.read("said").matches("Creation complete").count() >= 6);
    kill(child);
    // The journal lies by the real file, where every link to it leads.
    assert!(folder.path("shared/.real.tfstate.journal").exists());
    assert!(!folder.path(".terraform.tfstate.journal").exists());
    let made = identifiers(&folder);
    other.ok(&["apply", "-auto-approve"]);
    let whole = known(&folder.read("shared/real.tfstate")).unwrap();
    assert_eq!(whole.len(), 20);
    assert!(made.iter().all(|id| whole.contains(id)), "{made:?} {whole:?}");
    // The link was not replaced by a file.
    assert!(std::fs::symlink_metadata(folder.path("terraform.tfstate")).unwrap().is_symlink());
    assert!(!folder.path("shared/.real.tfstate.journal").exists());
}

#[test]
fn parallel_moves_keep_a_backup_each() {
    const MOVES: usize = 12;
    let folder = Folder::new();
    let blocks = (0..MOVES).map(|n| format!("resource \"terraform_data\" \"a{n}\" {{}}\n"));
    folder.write("main.tf", &blocks.collect::<String>());
    folder.ok(&["apply", "-auto-approve"]);
    std::thread::scope(|scope| {
        for number in 0..MOVES {
            let folder = &folder;
            let (from, to) = (format!("terraform_data.a{number}"), format!("terraform_data.b{number}"));
            // Each one waits for its turn.
            scope.spawn(move || folder.ok(&["state", "mv", "-lock-timeout=120s", &from, &to]));
        }
    });
    let mut serials = Vec::new();
    for entry in std::fs::read_dir(folder.path("")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // Backups are named by the time, so each has a name of its own.
        if name.starts_with("terraform.tfstate.1") && name.ends_with(".backup") {
            let backup: Json = serde_json::from_str(&folder.read(&name)).unwrap();
            serials.push(backup["serial"].as_u64().unwrap());
        }
    }
    serials.sort_unstable();
    let first = serials[0];
    assert_eq!(serials, (first..first + MOVES as u64).collect::<Vec<_>>(), "every state before is in a backup");
}

#[test]
fn damaged_journal_stops_every_run_until_it_is_accepted() {
    let folder = Folder::new();
    folder.write("main.tf", SLOW);
    let child = start(&folder, &["-var=delay=300ms", "-parallelism=5"]);
    until("some objects are made", || folder.read("said").matches("Creation complete").count() >= 6);
    kill(child);
    let path = folder.path(".terraform.tfstate.journal");
    let mut journal = std::fs::read(&path).unwrap();
    // One bit within the attributes of the last object: the checksum of the record must not match.
    let at = journal.windows(9).rposition(|found| found == b"QueueName" || found == b"queue_nam").unwrap();
    journal[at] ^= 1;
    std::fs::write(&path, &journal).unwrap();
    for arguments in [&["plan"][..], &["apply", "-auto-approve"], &["state", "rm", "awscc_sqs_queue.it[0]"]] {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, 1, "{arguments:?} {}", ran.out);
        assert!(
            ran.err.contains("Damaged journal") && ran.err.contains("GROMA_DAMAGED_JOURNAL=recover"),
            "{}",
            ran.err
        );
        // A refused run leaves the journal for a decision.
        assert_eq!(std::fs::read(&path).unwrap(), journal);
    }
    assert!(folder.run(&["state", "list"]).out.lines().count() >= 5);
    let accepting =
        folder.also_for(std::path::Path::new(env!("CARGO_BIN_EXE_groma"))).with("GROMA_DAMAGED_JOURNAL", "recover");
    let ran = accepting.run(&["plan"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("Damaged journal recovered in part"), "{}{}", ran.out, ran.err);
    // The choice was recorded with the recovered state; the variable is not needed again.
    assert_eq!(folder.run(&["plan"]).code, 0, "it is accepted once and for all");
    let kept = std::fs::read_dir(folder.path("")).unwrap();
    let kept = kept.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".damaged"));
    assert_eq!(kept.count(), 1);
}

#[test]
fn state_with_the_largest_serial_is_refused() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    folder.ok(&["apply", "-auto-approve"]);
    // The largest number of 64 bits, after which there is no next serial.
    let text = folder.read("terraform.tfstate").replace("\"serial\": 1", "\"serial\": 18446744073709551615");
    folder.write("terraform.tfstate", &text);
    for arguments in
        [&["apply", "-auto-approve", "-replace=terraform_data.a"][..], &["state", "rm", "terraform_data.a"]]
    {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, 1, "{arguments:?}");
        assert!(ran.err.contains("State serial out of range"), "{}", ran.err);
        assert_eq!(folder.read("terraform.tfstate"), text);
    }
}

#[cfg(unix)]
#[test]
fn unwritable_results_are_printed() {
    let folder = Folder::new();
    let block = |n: usize| format!("resource \"terraform_data\" \"b{n}\" {{\n  input = \"{n}\"\n}}\n");
    folder.write("main.tf", &(0..300).map(block).collect::<String>());
    // A file may grow to 20 kB, and what grows further is refused as on a full disk.
    let script = format!("ulimit -f 40; exec {} apply -auto-approve", env!("CARGO_BIN_EXE_groma"));
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", &script]).current_dir(folder.path("")).env("HOME", folder.path("home"));
    let output = limited.env_remove("TF_CLI_CONFIG_FILE").stdin(Stdio::null()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{err}");
    let made = out.matches(": Creation complete").count();
    let printed = &out[out.find("{\n  \"version\": 4").expect("the state is printed")..];
    let printed = &printed[..printed.find("\n}\n").unwrap() + 3];
    // The printed state may know more objects than were reported: the last messages may be missing.
    assert!(known(printed).unwrap().len() >= made, "{made}\n{err}");
    assert!(err.contains("It is printed above instead") && err.contains("state push -force"), "{err}");
    assert!(!err.contains("in the journal next to the file"), "{err}");
}

/// Something that takes `seconds`, and then makes an object of this name.
fn slow(name: &str, seconds: u32) -> String {
    format!(
        r#"
resource "terraform_data" "{name}" {{
  provisioner "local-exec" {{
    command = "touch begun && sleep {seconds}"
  }}
}}
"#
    )
}

/// A run in the background.
struct Behind(KillOnDrop);

impl Behind {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut command = folder.command(arguments);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        Self(KillOnDrop(child))
    }

    fn end(mut self) -> (i32, String) {
        let mut said = String::new();
        self.0.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.0.0.wait().unwrap().code().unwrap_or(-1), said)
    }
}

fn until_begun(folder: &Folder) {
    let begin = Instant::now();
    while !folder.path("begun").exists() {
        assert!(begin.elapsed() < Duration::from_secs(30), "the first run does not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// `first` works at the state while `second` comes; both programs are at home in the folder of `first`.
fn meet(first: &Folder, second: &Folder) {
    first.ok(&["init"]);
    second.ok(&["init"]);
    let holder = Behind::start(first, &["apply", "-auto-approve"]);
    until_begun(first);
    let refused = second.run(&["apply", "-auto-approve"]);
    assert_eq!(refused.code, 1, "{}", refused.out);
    assert!(refused.err.contains("Error acquiring the state lock"), "{}", refused.err);
    // The lock tells who holds it, so that nobody unlocks it blindly.
    assert!(refused.err.contains("OperationTypeApply"), "it says what the other does\n{}", refused.err);
    let begin = Instant::now();
    let brief = second.run(&["plan", "-lock-timeout=1s"]);
    assert_eq!(brief.code, 1);
    assert!(begin.elapsed() >= Duration::from_secs(1), "it waits as long as asked");
    let patient = second.run(&["plan", "-lock-timeout=60s", "-detailed-exitcode"]);
    assert_eq!(patient.code, 0, "what the first did is there\n{}{}", patient.out, patient.err);
    let (code, said) = holder.end();
    assert_eq!(code, 0, "{said}");
    assert!(!first.path(".terraform.tfstate.lock.info").exists());
}

#[test]
fn concurrent_runs_wait_for_the_lock() {
    let folder = Folder::new();
    folder.write("main.tf", &slow("a", 3));
    meet(&folder, &folder);
}

#[test]
fn each_waiting_run_gets_the_lock() {
    let folder = Folder::new();
    folder.write("main.tf", &slow("a", 1)).write("more.tf", "resource \"terraform_data\" \"each\" {\n  count = 3\n}\n");
    let targets = ["-target=terraform_data.a", "-target=terraform_data.each[0]", "-target=terraform_data.each[1]"];
    let runs: Vec<Behind> = targets
        .iter()
        .map(|target| Behind::start(&folder, &["apply", "-auto-approve", "-lock-timeout=60s", target]))
        .collect();
    for run in runs {
        let (code, said) = run.end();
        assert_eq!(code, 0, "{said}");
    }
    let listed = folder.ok(&["state", "list"]);
    assert_eq!(listed, "terraform_data.a\nterraform_data.each[0]\nterraform_data.each[1]\n", "nobody's work is lost");
}

#[test]
fn terraform_and_groma_wait_for_the_lock_of_the_other() {
    let Some(program) = terraform() else {
        println!("skipped: no terraform");
        return;
    };
    for ours_first in [true, false] {
        let ours = Folder::new();
        ours.write("main.tf", &slow("a", 4));
        let theirs = ours.also_for(&program);
        if ours_first { meet(&ours, &theirs) } else { meet(&theirs, &ours) }
    }
}
