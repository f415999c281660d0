//! The provider as users have it: a plugin under groma, and under Terraform where `GROMA_TERRAFORM` names one.
//!
//! This program is the groma that it tests.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::Value as Json;

/// Set for the runs of this program that are groma.
const AS_GROMA: &str = "GROMA_TEST_AS_GROMA";

fn main() -> ExitCode {
    let arguments = std::env::args_os().skip(1).collect();
    if std::env::var_os(AS_GROMA).is_some() {
        groma_cli::run("groma", arguments).exit();
    }
    if arguments.iter().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let groma = std::env::current_exe().unwrap();
    whole_life(&groma);
    println!("test under_groma ... ok");
    match std::env::var_os("GROMA_TERRAFORM") {
        Some(terraform) => {
            whole_life(Path::new(&terraform));
            println!("test under_terraform ... ok");
        }
        None => println!("skipped: no terraform"),
    }
    ExitCode::SUCCESS
}

/// A folder with a configuration, the files of the provider, and the program that runs.
struct Run {
    program: PathBuf,
    folder: tempfile::TempDir,
}

impl Run {
    fn new(program: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let plugins = Path::new(env!("CARGO_BIN_EXE_terraform-provider-files")).parent().unwrap();
        let settings = format!(
            "provider_installation {{\n  dev_overrides {{ \"example/files\" = {plugins:?} }}\n  direct {{}}\n}}\n"
        );
        std::fs::write(folder.path().join("settings.tfrc"), settings).unwrap();
        std::fs::create_dir(folder.path().join("files")).unwrap();
        Self { program: program.to_owned(), folder }
    }

    fn configure(&self, body: &str) {
        let text = format!(
            "terraform {{\n  required_providers {{ files = {{ source = \"example/files\" }} }}\n}}\n\
             provider \"files\" {{ folder = \"files\" }}\n{body}\n"
        );
        std::fs::write(self.folder.path().join("main.tf"), text).unwrap();
    }

    /// Exit code, and what was printed.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.folder.path()).env(AS_GROMA, "1").env("CHECKPOINT_DISABLE", "1");
        command.env("TF_CLI_CONFIG_FILE", self.folder.path().join("settings.tfrc"));
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        (output.status.code().unwrap_or(-1), text)
    }

    /// What was printed, when all is well.
    fn good(&self, arguments: &[&str]) -> String {
        let (code, text) = self.run(arguments);
        assert_eq!(code, 0, "{arguments:?}: {text}");
        text
    }

    fn apply(&self) -> String {
        self.good(&["apply", "-auto-approve", "-no-color"])
    }

    fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join("files").join(name)).ok()
    }

    fn attributes(&self) -> Json {
        let state = std::fs::read_to_string(self.folder.path().join("terraform.tfstate")).unwrap();
        let state: Json = serde_json::from_str(&state).unwrap();
        state["resources"][0]["instances"][0]["attributes"].clone()
    }
}

/// Plan, apply, update, drift, replacement, secrets, mistakes, import, destroy.
fn whole_life(program: &Path) {
    let run = Run::new(program);
    run.configure("resource \"files_file\" \"a\" {\n  name = \"a.txt\"\n  content = \"one\"\n}");
    let (code, text) = run.run(&["plan", "-no-color", "-detailed-exitcode"]);
    assert!(code == 2 && text.contains("1 to add") && text.contains("(known after apply)"), "{text}");
    run.apply();
    assert_eq!(run.file("a.txt").as_deref(), Some("one"));
    let attributes = run.attributes();
    assert_eq!((&attributes["size"], &attributes["read_only"]), (&Json::from(3), &Json::from(false)));
    assert_eq!(run.run(&["plan", "-detailed-exitcode"]).0, 0, "nothing is left to do");

    run.configure("resource \"files_file\" \"a\" {\n  name = \"a.txt\"\n  content = \"three\"\n  read_only = true\n}");
    let text = run.good(&["plan", "-no-color"]);
    assert!(text.contains("1 to change") && text.contains("size"), "{text}");
    run.apply();
    assert_eq!(run.attributes()["size"], 5);
    let about = std::fs::metadata(run.folder.path().join("files/a.txt")).unwrap();
    assert!(about.permissions().readonly());

    // Somebody else removes the file: the next plan makes it again.
    std::fs::remove_file(run.folder.path().join("files/a.txt")).unwrap();
    assert!(run.apply().contains("1 added"));

    run.configure("resource \"files_file\" \"a\" {\n  name = \"b.txt\"\n  secret = \"hush\"\n}");
    let text = run.good(&["plan", "-no-color"]);
    assert!(text.contains("forces replacement") && text.contains("1 to add, 0 to change, 1 to destroy"), "{text}");
    assert!(!text.contains("hush") && text.contains("(sensitive value)"), "{text}");
    run.apply();
    assert_eq!((run.file("a.txt"), run.file("b.txt").as_deref()), (None, Some("hush")));

    run.configure("resource \"files_file\" \"a\" {\n  name = \"../b.txt\"\n  content = \"x\"\n}");
    let (code, text) = run.run(&["plan", "-no-color"]);
    assert!(code == 1 && text.contains("is no name of a file in the folder"), "{text}");
    run.configure("resource \"files_file\" \"a\" {\n  name = \"b.txt\"\n}");
    assert!(run.run(&["plan", "-no-color"]).1.contains("A file has either content or secret."));

    std::fs::write(run.folder.path().join("files/found.txt"), "was here").unwrap();
    run.configure("resource \"files_file\" \"a\" {\n  name = \"found.txt\"\n  content = \"was here\"\n}");
    run.good(&["state", "rm", "files_file.a"]);
    run.good(&["import", "files_file.a", "found.txt"]);
    assert_eq!(run.run(&["plan", "-detailed-exitcode"]).0, 0, "an imported file is as the configuration has it");
    assert_ne!(run.run(&["import", "files_file.b", "nowhere.txt"]).0, 0);

    run.good(&["destroy", "-auto-approve"]);
    assert_eq!(run.file("found.txt"), None);
}
