//! Output to full disks, closed pipes and devices.
#![cfg(unix)]

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::Folder;

const OUTPUT: &str = "resource \"terraform_data\" \"it\" {\n  input = \"x\"\n}\n\noutput \"o\" {\n  value = \"x\"\n}\n";

fn applied() -> Folder {
    let folder = Folder::new();
    folder.write("main.tf", OUTPUT);
    folder.ok(&["apply", "-auto-approve"]);
    folder
}

/// A named pipe in the folder.
fn pipe(folder: &Folder) -> PathBuf {
    let path = folder.path("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

fn is_pipe(path: &Path) -> bool {
    std::fs::symlink_metadata(path).unwrap().file_type().is_fifo()
}

#[cfg(target_os = "linux")]
#[test]
fn failed_write_to_standard_output_fails_every_command() {
    // With a device that is always full, the first write fails, or the flush at the end.
    let folder = applied();
    let commands: [&[&str]; 17] = [
        &["-help"],
        &["plan", "-help"],
        &["version"],
        &["plan"],
        &["plan", "-json"],
        &["apply", "-auto-approve"],
        &["output"],
        &["output", "-json"],
        &["output", "-raw", "o"],
        &["show"],
        &["show", "-json"],
        &["state", "pull"],
        &["state", "list"],
        &["graph"],
        &["validate", "-json"],
        &["workspace", "list"],
        &["metadata", "functions", "-json"],
    ];
    for arguments in commands {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = folder.command(arguments).stdout(full).output().unwrap();
        let reported = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {reported}");
        assert!(reported.contains("Error: Failed to write to standard output"), "{arguments:?}: {reported}");
        assert!(
            reported.contains("No space left on device.") && !reported.contains("os error"),
            "{arguments:?}: {reported}"
        );
    }
}

#[test]
fn closed_pipe_is_not_an_error() {
    let folder = applied();
    for arguments in [&["show", "-json"][..], &["plan"], &["metadata", "functions", "-json"]] {
        let mut child = folder.command(arguments).spawn().unwrap();
        // As `head` closes it once it has the lines it wants.
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn plan_is_written_to_a_pipe() {
    let folder = applied();
    folder.write("main.tf", &OUTPUT.replace("\"x\"", "\"y\""));
    let pipe = pipe(&folder);
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            File::open(pipe).unwrap().read_to_end(&mut bytes).unwrap();
            bytes
        })
    };
    folder.ok(&["plan", "-out=pipe"]);
    std::fs::write(folder.path("plan"), reader.join().unwrap()).unwrap();
    // A file that is written aside and renamed would replace the pipe with a file.
    assert!(is_pipe(&pipe));
    let applied = folder.ok(&["apply", "plan"]);
    assert!(applied.contains("1 changed"), "{applied}");
}

#[test]
fn state_path_that_is_a_pipe_is_rejected_before_changes() {
    let folder = Folder::new();
    folder.write("main.tf", OUTPUT);
    let pipe = pipe(&folder);
    // A state cannot be read back from a pipe, so nothing may be created that it would have to record.
    let reported = folder.fails(&["apply", "-auto-approve", "-state-out=pipe"]);
    assert!(reported.contains("is a device or a pipe") && reported.contains("Nothing was changed"), "{reported}");
    assert!(is_pipe(&pipe));
    assert!(!folder.path("terraform.tfstate").exists());
}

#[test]
fn suggested_commands_work_where_they_are_printed() {
    let folder = Folder::new().with("GROMA_PERSONA", "groma");
    folder.write("sub dir/main.tf", OUTPUT);
    let reported = folder.ok(&["-chdir=sub dir", "plan", "-out=../p"]);
    // The command is run by a shell as printed: the directory's blank must be quoted, and the plan found from there.
    let suggested = reported.lines().rev().find(|line| line.contains(" apply ")).unwrap().trim();
    assert_eq!(suggested, "groma -chdir='sub dir' apply \"../p\"");
    let command = suggested.replacen("groma", env!("CARGO_BIN_EXE_groma"), 1);
    let output = Command::new("sh").args(["-c", &command]).current_dir(folder.path("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_removed_working_directory_is_an_error() {
    let folder = Folder::new();
    let gone = folder.path("gone");
    std::fs::create_dir(&gone).unwrap();
    let program = env!("CARGO_BIN_EXE_groma");
    // The shell's own directory is removed before the program starts in it.
    let script = format!("rmdir \"$PWD\" && exec {program} destroy -auto-approve");
    let output = Command::new("sh").args(["-c", &script]).current_dir(&gone).stdin(Stdio::null()).output().unwrap();
    let reported = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        reported.contains("Failed to determine current working directory: no such file or directory"),
        "{reported}"
    );
}

#[test]
fn directory_as_plan_file_gets_advice() {
    let folder = Folder::new();
    folder.write("sub/main.tf", OUTPUT);
    let reported = folder.fails(&["apply", "sub"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(reported.contains("The specified path is a directory, not a plan file"), "{reported}");
    assert!(reported.contains("-chdir=sub"), "{reported}");
}

#[test]
fn missing_plugin_directory_is_rejected() {
    let folder = Folder::new();
    folder.write("main.tf", OUTPUT);
    for given in ["-plugin-dir=nope", "-plugin-dir=main.tf"] {
        let reported = folder.fails(&["init", given]);
        assert!(reported.contains("Error: Invalid plugin directory"), "{reported}");
    }
}

#[test]
fn unreadable_workspace_selection_is_an_error() {
    let folder = Folder::new();
    folder.write("main.tf", OUTPUT);
    std::fs::create_dir_all(folder.path(".terraform")).unwrap();
    // A byte that no UTF-8 text contains.
    std::fs::write(folder.path(".terraform/environment"), b"\xff").unwrap();
    let reported = folder.fails(&["plan"]);
    assert!(reported.contains("Error: Failed to read the selected workspace"), "{reported}");
}

#[test]
fn unusable_log_settings_are_reported() {
    let run = |level: &str, path: &str| {
        let folder = Folder::new().with("TF_LOG", level).with("TF_LOG_PATH", path);
        folder.run(&["version"])
    };
    // A log that cannot be opened does not stop the command: the log goes to standard error instead.
    let ran = run("info", "no/such/folder/log");
    assert_eq!(ran.code, 0);
    assert!(
        ran.err.starts_with("Error opening log file: open no/such/folder/log: no such file or directory\n"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("[INFO]"), "{}", ran.err);
    let ran = run("bogus", "");
    assert!(ran.err.starts_with("[WARN] Invalid log level: \"BOGUS\". Defaulting to level: TRACE."), "{}", ran.err);
    let ran = run("json", "");
    for line in ran.err.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line["@message"].is_string() && line["@level"].is_string(), "{line}");
    }
    assert!(!ran.err.is_empty());
}
