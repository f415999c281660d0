//! `validate -json` of small configurations over all blocks and arguments, compared with Terraform.
//!
//! `tests/validate/*.txt`: cases end with a line of `=`; a configuration (further files begin with `-- path --`), after `-----` what we say, and
//! after a second `-----` what Terraform says, where that is something else: severity, place and summary of each diagnostic (and what is deprecated), sorted. With
//! `GROMA_UPDATE=1` our side is written anew; with `GROMA_TERRAFORM` Terraform's side is held against it, and written anew with both.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::common::Folder;
use crate::common::cases::{files, line};

type Said = BTreeSet<String>;

/// A case may have one of its own.
const MANIFEST: &str = ".terraform/modules/modules.json";

struct Case {
    text: String,
    ours: Said,
    /// Where it is not the same.
    theirs: Option<Said>,
}

fn paths() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/validate");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    paths
}

fn cases(path: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = |part: &str| part.lines().map(str::to_owned).collect::<Said>();
    let case = |case: &str| {
        let mut parts = case.split("-----\n");
        let text = parts.next().unwrap_or_default().to_owned();
        Case { text, ours: lines(parts.next().unwrap_or_default()), theirs: parts.next().map(lines) }
    };
    text.split("=====\n").map(case).collect()
}

fn rendered(cases: &[Case]) -> String {
    let lines = |said: &Said| said.iter().map(|line| format!("{line}\n")).collect::<String>();
    let case = |case: &Case| {
        let theirs = case.theirs.as_ref().filter(|theirs| **theirs != case.ours);
        let theirs = theirs.map_or_else(String::new, |theirs| format!("-----\n{}", lines(theirs)));
        format!("{}-----\n{}{theirs}", case.text, lines(&case.ours))
    };
    cases.iter().map(case).collect::<Vec<_>>().join("=====\n")
}

/// The problems that a program reports about a configuration.
fn said(program: &Path, text: &str) -> Said {
    let folder = tempfile::tempdir().unwrap();
    let files = files(text, "main.tf");
    for (path, text) in &files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    // Terraform takes a module for installed that is listed here.
    let manifest = folder.path().join(MANIFEST);
    std::fs::create_dir_all(manifest.parent().unwrap()).unwrap();
    let module = if files.len() > 1 { ",{\"Key\":\"m\",\"Source\":\"./m\",\"Dir\":\"m\"}" } else { "" };
    let modules = format!("{{\"Modules\":[{{\"Key\":\"\",\"Source\":\"\",\"Dir\":\".\"}}{module}]}}");
    if !manifest.exists() {
        std::fs::write(manifest, modules).unwrap();
    }
    let mut command = Command::new(program);
    // The checkpoint service is not asked for newer versions, which would delay every case.
    command.args(["validate", "-json"]).current_dir(folder.path()).env("CHECKPOINT_DISABLE", "1");
    let output = command.env_remove("TF_CLI_CONFIG_FILE").env_remove("TF_DATA_DIR").output().unwrap();
    let Ok(result) = serde_json::from_slice::<serde_json::Value>(&output.stdout) else {
        return Said::from([String::from("no answer")]);
    };
    result["diagnostics"].as_array().into_iter().flatten().map(line).collect()
}

/// The program's output for all cases, two at a time.
fn all(program: &Path, cases: &[Case]) -> Vec<Said> {
    let next = Mutex::new(0..cases.len());
    let found = Mutex::new(vec![Said::new(); cases.len()]);
    std::thread::scope(|threads| {
        // Most of a case is starting a process, so all processors are used.
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            threads.spawn(|| {
                loop {
                    let Some(index) = next.lock().unwrap().next() else { break };
                    let said = said(program, &cases[index].text);
                    found.lock().unwrap()[index] = said;
                }
            });
        }
    });
    found.into_inner().unwrap()
}

fn updates() -> bool {
    std::env::var_os("GROMA_UPDATE").is_some()
}

#[test]
fn configurations_match_record() {
    let mut wrong = String::new();
    for path in paths() {
        let mut cases = cases(&path);
        // A misspelled separator would merge all cases into one.
        assert!(cases.len() > 10, "{}", path.display());
        let answers = all(Path::new(env!("CARGO_BIN_EXE_groma")), &cases);
        for (case, said) in cases.iter_mut().zip(answers) {
            if updates() {
                // Terraform's side stays as it was recorded: only ours changes.
                case.theirs.get_or_insert_with(|| case.ours.clone());
                case.ours = said;
            } else if case.ours != said {
                writeln!(wrong, "{}  wanted {:?}\n  got    {said:?}", case.text, case.ours).unwrap();
            }
        }
        if updates() {
            std::fs::write(&path, rendered(&cases)).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn terraform_matches_record() {
    let Some(terraform) = std::env::var_os("GROMA_TERRAFORM").filter(|path| !path.is_empty()).map(PathBuf::from) else {
        println!("skipped: no terraform");
        return;
    };
    let mut wrong = String::new();
    let (mut compared, mut different, mut meant) = (0, 0, 0);
    for path in paths() {
        let mut cases = cases(&path);
        let answers = all(&terraform, &cases);
        for (case, said) in cases.iter_mut().zip(answers) {
            compared += 1;
            if updates() {
                case.theirs = Some(said);
            } else if *case.theirs.as_ref().unwrap_or(&case.ours) != said {
                different += 1;
                writeln!(wrong, "{}  recorded {:?}\n  said     {said:?}", case.text, case.theirs).unwrap();
            // A recorded difference that still exists is intended.
            } else if case.theirs.is_some() {
                meant += 1;
            }
        }
        println!("\nprogress: {compared} configurations");
        if updates() {
            std::fs::write(&path, rendered(&cases)).unwrap();
        }
    }
    let same = compared - different - meant;
    println!(
        "\ncompared: {compared} configurations, {same} the same, {different} different, {meant} different as recorded"
    );
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn type_of_unknown_variable_has_no_optional_attributes() {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        "variable \"v\" {\n  type = map(object({ a = optional(string) }))\n}\noutput \"a\" {\n  value = lookup(var.v, \"k\", {})\n}\n\
         output \"b\" {\n  value = lookup(var.v, \"k\", { a = \"x\" })\n}\n",
    );
    let said = folder.fails(&["validate"]);
    // Only the first default lacks the attribute, which is not optional in the type of the value.
    assert_eq!(said.matches("Error: ").count(), 1, "{said}");
    assert!(said.contains("Invalid function argument") && said.contains("main.tf line 5"), "{said}");
}
