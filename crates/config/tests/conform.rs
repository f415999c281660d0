//! Configurations with one mistake each (and some without), compared with Terraform by severity, summary, file and line.
//!
//! A snapshot records Groma's diagnostics. If the environment variable `GROMA_TERRAFORM` contains a Terraform executable, its
//! `validate -json` must report the same, unless the case begins with a comment `# differs: REASON`.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use groma_config::{Configuration, ModuleSource};
use groma_diagnostics::Severity;

/// Returns the cases of all files with their names: the file's name and the number of the case.
fn cases() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conform");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    let numbered = |path: PathBuf| -> Vec<(String, String)> {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(path).unwrap();
        let cases = text.split("=====\n").enumerate();
        cases.map(|(index, case)| (format!("{name} {}", index + 1), case.to_owned())).collect()
    };
    paths.into_iter().flat_map(numbered).collect()
}

/// Loads a case; returns its diagnostics and the configuration, if any.
fn diagnostics_of(case: &str) -> (BTreeSet<String>, Option<Configuration>) {
    let (configuration, diagnostics, sources) = support::load_text(case);
    let lines = diagnostics.iter().map(|diagnostic| {
        let severity = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
        let location = diagnostic.subject.and_then(|span| sources.locate(span));
        let location = location.map_or_else(|| "-".to_owned(), |at| format!("{}:{}", at.file.name(), at.start.line));
        format!("{severity} {location} {}", diagnostic.summary)
    });
    (lines.collect(), configuration)
}

#[test]
fn diagnostics_match_the_record() {
    let mut record = String::new();
    for (name, case) in cases() {
        record.push_str(&format!("--- {name}\n"));
        for line in diagnostics_of(&case).0 {
            record.push_str(&format!("{line}\n"));
        }
    }
    insta::assert_snapshot!(record);
}

#[test]
fn diagnostics_match_terraform() {
    let Ok(terraform) = std::env::var("GROMA_TERRAFORM") else {
        println!("skipped: no terraform");
        return;
    };
    let mut differing = Vec::new();
    let all = cases();
    let (mut compared, mut meant) = (0, 0);
    for (name, case) in &all {
        if case.starts_with("# differs: ") {
            meant += 1;
            continue;
        }
        let (ours, configuration) = diagnostics_of(case);
        let theirs = validate(&terraform, case, configuration.as_ref());
        if ours != theirs {
            differing.push(format!("{name}\n  ours   {ours:?}\n  theirs {theirs:?}"));
        }
        compared += 1;
        if compared % 25 == 0 {
            println!("\nprogress: {compared} of {}", all.len());
        }
    }
    let different = differing.len();
    let same = compared - different;
    println!(
        "\ncompared: {compared} configurations, {same} the same, {different} different; {meant} that differ on purpose left out"
    );
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// Runs `terraform validate -json` on a case and returns its diagnostics.
fn validate(terraform: &str, case: &str, configuration: Option<&Configuration>) -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in support::texts(case) {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let manifest = folder.path().join(".terraform/modules");
    fs::create_dir_all(&manifest).unwrap();
    fs::write(manifest.join("modules.json"), module_manifest(configuration)).unwrap();
    let mut command = Command::new(terraform);
    command.args(["validate", "-json"]).current_dir(folder.path());
    let output = command.env("CHECKPOINT_DISABLE", "1").env_remove("TF_CLI_CONFIG_FILE").output().unwrap();
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let diagnostics = result["diagnostics"].as_array().unwrap();
    diagnostics.iter().map(print).collect()
}

fn print(diagnostic: &serde_json::Value) -> String {
    let range = &diagnostic["range"];
    let location = match range["filename"].as_str() {
        Some(file) => format!("{file}:{}", range["start"]["line"]),
        None => "-".to_owned(),
    };
    format!("{} {location} {}", diagnostic["severity"].as_str().unwrap(), diagnostic["summary"].as_str().unwrap())
}

/// Returns a manifest that makes Terraform believe the modules are installed.
fn module_manifest(configuration: Option<&Configuration>) -> String {
    let mut records = vec![serde_json::json!({ "Key": "", "Source": "", "Dir": "." })];
    for module in configuration.map(Configuration::modules).unwrap_or_default() {
        for (name, child) in &module.children {
            let Some(ModuleSource::Local(source)) = &module.calls[name].source else { continue };
            let key = child.path.steps().join(".");
            records.push(serde_json::json!({ "Key": key, "Source": source, "Dir": child.directory }));
        }
    }
    serde_json::json!({ "Modules": records }).to_string()
}
