//! Input and surroundings that are wrong: each time a clear error with advice, exit code 1, and nothing lost.

mod command_lines;
mod configurations;
mod environment;
mod states;

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
