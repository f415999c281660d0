//! Expressions and what they are, in the language of their users: `tests/expressions/*.txt`.
//!
//! A line that begins with `> ` is an expression; the lines up to the next empty line are what the console prints for
//! it, or `error: ` and the summary of the first error. With `GROMA_UPDATE=1` the files are written anew. With
//! `GROMA_TERRAFORM` set to a Terraform of version 1.15 or later, it is asked too, save for expressions after `# ours`.

#![allow(clippy::unwrap_used, reason = "tests end where something is missing")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use groma_diagnostics::Sources;
use groma_lang::{EmptyScope, FunctionContext, ProviderParameter, Purity, functions};

struct Case {
    expression: String,
    wanted: String,
    /// Whether Terraform has no such expression, or says something else for a reason.
    only_ours: bool,
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expressions");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    files
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut only_ours = false;
    let mut open = false;
    for line in text.lines() {
        if let Some(expression) = line.strip_prefix("> ") {
            cases.push(Case { expression: expression.to_owned(), wanted: String::new(), only_ours });
            open = true;
        } else if line == "# ours" {
            only_ours = true;
        } else if line.is_empty() {
            open = false;
        } else if open {
            let wanted = &mut cases.last_mut().unwrap().wanted;
            if !wanted.is_empty() {
                wanted.push('\n');
            }
            // A line of a dot stands for an empty one.
            wanted.push_str(if line == "." { "" } else { line });
        }
    }
    cases
}

fn rendered(cases: &[Case]) -> String {
    let mut out = String::new();
    let mut only_ours = false;
    for case in cases {
        if case.only_ours && !only_ours {
            out.push_str("# ours\n\n");
            only_ours = true;
        }
        let wanted: Vec<&str> = case.wanted.lines().map(|line| if line.is_empty() { "." } else { line }).collect();
        writeln!(out, "> {}\n{}\n", case.expression, wanted.join("\n")).unwrap();
    }
    out
}

fn scope(sources: &Arc<Sources>) -> EmptyScope {
    let mut functions = FunctionContext::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"), Arc::clone(sources));
    functions.purity = Purity::Immediate;
    EmptyScope::new(functions)
}

fn ours(expression: &str) -> String {
    let sources = Arc::new(Sources::new());
    let file = sources.add("<console-input>", expression).unwrap();
    let (expression, mut diagnostics) = groma_hcl::parse_expression(&file);
    let answer = groma_lang::answer(&expression, &scope(&sources), &mut diagnostics);
    match diagnostics.iter().find(|problem| problem.is_error()) {
        Some(problem) => format!("error: {}", problem.summary),
        None => answer.unwrap_or_default(),
    }
}

#[test]
fn expressions_are_what_they_were_found_to_be() {
    let update = std::env::var_os("GROMA_UPDATE").is_some();
    let mut wrong = String::new();
    for path in files() {
        let mut cases = cases(&std::fs::read_to_string(&path).unwrap());
        assert!(!cases.is_empty(), "no cases in {}", path.display());
        for case in &mut cases {
            let got = ours(&case.expression);
            if update {
                case.wanted = got;
            } else if got != case.wanted {
                writeln!(wrong, "{}:\n  wanted {}\n  got    {got}", case.expression, case.wanted).unwrap();
            }
        }
        if update {
            std::fs::write(&path, rendered(&cases)).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn terraform_agrees() {
    let Some(terraform) = std::env::var_os("GROMA_TERRAFORM").map(PathBuf::from) else {
        println!("skipped: no terraform");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("templates")).unwrap();
    for template in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/templates")).unwrap() {
        let template = template.unwrap();
        std::fs::copy(template.path(), folder.path().join("templates").join(template.file_name())).unwrap();
    }
    let mut wrong = String::new();
    for path in files() {
        let cases = cases(&std::fs::read_to_string(&path).unwrap());
        let asked: Vec<&Case> = cases.iter().filter(|case| !case.only_ours).collect();
        for (case, theirs) in asked.iter().zip(ask(&terraform, folder.path(), &asked)) {
            if theirs != case.wanted {
                writeln!(wrong, "{}:\n  terraform {theirs}\n  ours      {}", case.expression, case.wanted).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn signatures_are_those_of_terraform() {
    let Some(terraform) = std::env::var_os("GROMA_TERRAFORM").map(PathBuf::from) else {
        println!("skipped: no terraform");
        return;
    };
    let output = Command::new(terraform).args(["metadata", "functions", "-json"]).output().unwrap();
    let all: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut wrong = String::new();
    for (name, theirs) in all["function_signatures"].as_object().unwrap() {
        let Some(ours) = functions::signature(name) else {
            // Those of the namespace `core` are the same again; three have arguments that are no values.
            assert!(name.starts_with("core::") || ["can", "convert", "try"].contains(&name.as_str()), "{name}");
            continue;
        };
        let described = |parameter: &ProviderParameter| {
            let ty: serde_json::Value = serde_json::from_str(&parameter.ty.to_json()).unwrap();
            let mut object = serde_json::json!({ "name": parameter.name, "type": ty });
            if parameter.nullable {
                object["is_nullable"] = true.into();
            }
            object
        };
        let bare = |parameter: &serde_json::Value| {
            let mut parameter = parameter.clone();
            parameter.as_object_mut().map(|object| object.remove("description"));
            parameter
        };
        let their_parameters: Vec<_> = theirs["parameters"].as_array().into_iter().flatten().map(bare).collect();
        let our_parameters: Vec<_> = ours.parameters.iter().map(described).collect();
        let their_more = theirs.get("variadic_parameter").map(bare);
        let our_more = ours.variadic.as_ref().map(described);
        if their_parameters != our_parameters || their_more != our_more {
            writeln!(wrong, "{name}:\n  {their_parameters:?} {their_more:?}\n  {our_parameters:?} {our_more:?}")
                .unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What Terraform's console says to each expression. Of several it prints only the last, so that each has its own run.
fn ask(terraform: &Path, folder: &Path, cases: &[&Case]) -> Vec<String> {
    let half = cases.len().div_ceil(2);
    std::thread::scope(|threads| {
        let runs: Vec<_> = cases
            .chunks(half.max(1))
            .map(|part| threads.spawn(|| part.iter().map(|case| answer(terraform, folder, case)).collect::<Vec<_>>()))
            .collect();
        runs.into_iter().flat_map(|run| run.join().unwrap()).collect()
    })
}

fn answer(terraform: &Path, folder: &Path, case: &Case) -> String {
    let mut child = Command::new(terraform)
        .arg("console")
        .current_dir(folder)
        .env("CHECKPOINT_DISABLE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(case.expression.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    if output.status.success() {
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        return out.strip_suffix('\n').unwrap_or(&out).to_owned();
    }
    let err = plain(&String::from_utf8_lossy(&output.stderr));
    let summary = err.lines().find_map(|line| line.split_once("Error: ")).map_or("", |(_, summary)| summary);
    format!("error: {}", summary.trim())
}

/// The text without the codes for colours.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        out.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    out + rest
}
