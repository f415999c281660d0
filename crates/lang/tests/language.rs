//! Expressions and what they are, in the language of their users: `tests/expressions/*.txt`.
//!
//! A line that begins with `> ` is an expression; the lines up to the next empty line are what the console prints for
//! it, or `error: ` and the summary of the first error. With `GROMA_UPDATE=1` the files are written anew. With
//! `GROMA_TERRAFORM` set to a Terraform of version 1.15 or later, it is asked too, save for expressions after `# ours`.

#![allow(clippy::unwrap_used, reason = "tests end where something is missing")]

#[path = "support/terraform.rs"]
mod terraform;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use groma_diagnostics::Sources;
use groma_lang::{Availability, EmptyScope, FunctionContext, ProviderParameter, Purity, functions};
use terraform::{Ours, Terraform};

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
    functions.availability = Availability::Console;
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
    let fill = |folder: &Path| {
        std::fs::create_dir(folder.join("templates")).unwrap();
        for template in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/templates")).unwrap() {
            let template = template.unwrap();
            std::fs::copy(template.path(), folder.join("templates").join(template.file_name())).unwrap();
        }
    };
    let Some(terraform) = Terraform::find(&["console"], fill) else { return };
    let recorded: Vec<Case> = files()
        .iter()
        .flat_map(|path| cases(&std::fs::read_to_string(path).unwrap()))
        .filter(|case| !case.only_ours)
        .collect();
    let asked: Vec<terraform::Case> = recorded.into_iter().map(|case| (case.expression, case.wanted)).collect();
    let mut wrong = String::new();
    let mut different = 0;
    for ((expression, ours), theirs) in asked.iter().zip(terraform.differing(|| Empty, &asked)) {
        if let Some(theirs) = theirs {
            different += 1;
            writeln!(wrong, "{expression}:\n  terraform {theirs}\n  ours      {ours}").unwrap();
        }
    }
    let (all, same) = (asked.len(), asked.len() - different);
    println!("\ncompared: {all} expressions of files, {same} the same, {different} different");
    assert!(wrong.is_empty(), "{wrong}");
}

/// No names, only functions.
struct Empty;

impl Ours for Empty {
    fn answer(&self, text: &str) -> String {
        ours(text)
    }

    fn parses(&self, text: &str) -> bool {
        let sources = Sources::new();
        sources.add("<console-input>", text).is_some_and(|file| !groma_hcl::parse_expression(&file).1.has_errors())
    }
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
    let signatures = all["function_signatures"].as_object().unwrap();
    for (name, theirs) in signatures {
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
    let different = wrong.lines().filter(|line| line.ends_with(':')).count();
    let same = signatures.len() - different;
    println!("\ncompared: {} signatures of functions, {same} the same, {different} different", signatures.len());
    assert!(wrong.is_empty(), "{wrong}");
}
