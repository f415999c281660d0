//! Input and surroundings that are wrong: each time a clear error with advice, exit code 1, and nothing lost.

mod command_lines;
mod configurations;
mod states;

use std::process::{Command, Stdio};

use crate::common::{Folder, Ran};

const ONE: &str = "resource \"terraform_data\" \"a\" {\n  input = \"x\"\n}\n";
const STATE: &str = "terraform.tfstate";

fn folder(configuration: &str) -> Folder {
    let folder = Folder::new();
    folder.write("main.tf", configuration);
    folder
}

/// With a state of one object.
fn built() -> Folder {
    let folder = folder(ONE);
    folder.ok(&["apply", "-auto-approve"]);
    folder
}

/// An error of this summary and with this advice, and no panic.
fn refuses(folder: &Folder, arguments: &[&str], summary: &str, advice: &str) {
    says(&folder.run(arguments), arguments, summary, advice);
}

fn says(ran: &Ran, arguments: &[&str], summary: &str, advice: &str) {
    let text = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(ran.code, 1, "{arguments:?}\n{}{}", ran.out, ran.err);
    assert!(ran.err.contains(&format!("Error: {summary}")), "{arguments:?}: no {summary:?} in\n{}", ran.err);
    assert!(text.contains(advice), "{arguments:?}: no {advice:?} in\n{}", ran.err);
    assert!(!text.contains("panicked"), "{}", ran.err);
}

/// All that is in the folder, with its contents.
fn everything(folder: &Folder) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder.path(""))
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap_or_default()))
        .collect();
    files.sort();
    files
}

const COMMANDS: [&[&str]; 7] = [
    &["plan"],
    &["apply", "-auto-approve"],
    &["destroy", "-auto-approve"],
    &["plan", "-refresh-only"],
    &["state", "list"],
    &["show"],
    &["output"],
];

#[test]
fn full_disk_stops_the_run_without_loss() {
    let blocks = |n: usize| format!("resource \"terraform_data\" \"b{n}\" {{\n  input = \"{n}\"\n}}\n");
    let folder = folder(&(0..300).map(blocks).collect::<String>());
    // A file may grow to 20 kB, and what grows further is refused as on a full disk.
    let script = format!("ulimit -f 40; exec {} apply -auto-approve", env!("CARGO_BIN_EXE_groma"));
    let mut limited = Command::new("sh");
    limited.args(["-c", &script]).current_dir(folder.path("")).env("HOME", folder.path("home"));
    limited.env_remove("TF_CLI_CONFIG_FILE");
    let output = limited.stdin(Stdio::null()).output().unwrap();
    let ran = Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    };
    says(
        &ran,
        &["apply"],
        "Failed to write",
        "Raise the limit on the size of files (ulimit -f), then run the command again",
    );
    let times = ran.err.matches("Error: Failed to write").count();
    assert_eq!(times, 1, "each object that is left meets the full disk: that is reported once\n{}", ran.err);

    let made = ran.out.matches(": Creation complete").count();
    let ran = folder.run(&["apply", "-auto-approve"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(folder.ok(&["state", "list"]).lines().count(), 300);
    let left: usize = ran.out.matches(": Creating...").count();
    assert!(made + left <= 300, "{made} were made before, {left} after");
    assert_eq!(folder.run(&["plan", "-detailed-exitcode"]).code, 0);
}

#[test]
fn unwritable_directory() {
    // To the superuser, permissions mean nothing: a folder in the place of the state file does.
    let folder = folder(ONE);
    std::fs::create_dir(folder.path(STATE)).unwrap();
    for arguments in [&["plan"][..], &["apply", "-auto-approve"], &["state", "list"]] {
        refuses(&folder, arguments, "", "terraform.tfstate");
    }
    let built = built();
    std::fs::create_dir(built.path("p")).unwrap();
    refuses(&built, &["plan", "-out=p", "-destroy"], "", "is a directory");
    assert_eq!(built.ok(&["state", "list"]), "terraform_data.a\n");
}
