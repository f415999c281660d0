//! The same texts through Terraform, where its binary is at hand: `GROMA_TERRAFORM` names it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::formatting;
use crate::mistakes;
use crate::show::source;
use crate::ugly::Ugly;

fn terraform(arguments: &[&str], folder: &Path) -> Option<Output> {
    let Some(binary) = std::env::var_os("GROMA_TERRAFORM") else {
        println!("skipped: no terraform");
        return None;
    };
    let mut command = Command::new(binary);
    command.args(arguments).current_dir(folder).env("CHECKPOINT_DISABLE", "1").env("TF_CLI_CONFIG_FILE", "/dev/null");
    Some(command.output().expect("terraform runs"))
}

#[test]
fn mistakes_are_found_where_terraform_finds_them() {
    let folder = tempfile::tempdir().unwrap();
    let cases = mistakes::cases();
    for (number, case) in cases.iter().enumerate() {
        std::fs::write(folder.path().join(format!("case{number}.tf")), &case.text).unwrap();
    }
    let arguments = ["fmt", "-list=false", "-write=false", "-no-color", "."];
    let Some(output) = terraform(&arguments, folder.path()) else { return };
    let mut found = vec![Vec::new(); cases.len()];
    let mut summary = None;
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        let line = line.trim_start_matches(['│', '╷', '╵', ' ']);
        if let Some(text) = line.strip_prefix("Error: ") {
            summary = Some(text.trim().to_owned());
        } else if let Some((number, place)) = line.strip_prefix("on case").and_then(|rest| rest.split_once(".tf line "))
        {
            let number: usize = number.parse().unwrap();
            let digits: String = place.chars().take_while(char::is_ascii_digit).collect();
            let message = format!("{digits}: {}", summary.take().unwrap_or_default());
            if !found[number].contains(&message) {
                found[number].push(message);
            }
        }
    }
    let compared = cases.len();
    let mut different = String::new();
    let by_line = |message: &String| message.split(':').next().and_then(|line| line.parse::<u32>().ok());
    for (case, mut found) in cases.into_iter().zip(found) {
        let mut expected = case.terraform.unwrap_or(case.ours);
        expected.sort();
        expected.dedup();
        found.sort();
        found.sort_by_key(by_line);
        expected.sort_by_key(by_line);
        if found != expected {
            writeln!(different, "{}\n  ours   {expected:?}\n  theirs {found:?}", case.text).unwrap();
        }
    }
    report("files with mistakes", compared, &different);
}

#[test]
fn layouts_are_those_of_terraform() {
    let folder = tempfile::tempdir().unwrap();
    let texts = formatting::texts();
    let path = |number| folder.path().join(format!("case{number}.tf"));
    for (number, text) in texts.iter().enumerate() {
        std::fs::write(path(number), text).unwrap();
    }
    if terraform(&["fmt", "-list=false", "."], folder.path()).is_none() {
        return;
    }
    same_layouts("layouts", &texts, path);
}

#[test]
fn layouts_of_generated_files_are_those_of_terraform() {
    let folder = tempfile::tempdir().unwrap();
    let mut ugly = Ugly(20_261_121);
    let has_mistakes = |text: &str| groma_hcl::parse_file(&source(text)).1.has_errors();
    let texts: Vec<String> = (0..1_000).map(|_| ugly.file()).filter(|text| !has_mistakes(text)).collect();
    assert!(texts.len() > 700, "{}", texts.len());
    let path = |number| folder.path().join(format!("case{number}.tf"));
    for (number, text) in texts.iter().enumerate() {
        std::fs::write(path(number), text).unwrap();
    }
    if terraform(&["fmt", "-list=false", "."], folder.path()).is_none() {
        return;
    }
    same_layouts("generated layouts", &texts, path);
}

/// Holds our layout of each text against what Terraform has made of its file.
fn same_layouts(what: &str, texts: &[impl AsRef<str>], path: impl Fn(usize) -> PathBuf) {
    let mut different = String::new();
    for (number, text) in texts.iter().enumerate() {
        let (ours, theirs) = (groma_hcl::format(text.as_ref()), std::fs::read_to_string(path(number)).unwrap());
        if ours != theirs {
            writeln!(different, "{}\n  ours   {ours:?}\n  theirs {theirs:?}", text.as_ref()).unwrap();
        }
    }
    report(what, texts.len(), &different);
}

/// Says how many were compared, and ends the test where something differs.
fn report(what: &str, compared: usize, different: &str) {
    let count = different.lines().filter(|line| line.starts_with("  theirs ")).count();
    println!("\ncompared: {compared} {what}, {} the same, {count} different", compared - count);
    assert!(different.is_empty(), "{different}");
}
