//! Cases in text files: configurations with a line of remarks, and recorded results.

use std::path::Path;

use super::normalization::first_difference;

/// The files of a text: each begins with `-- path --`, and what is before the first of these lines is a file of that name.
pub fn files<'a>(text: &'a str, first: &'a str) -> Vec<(&'a str, String)> {
    let mut files = vec![(first, String::new())];
    for line in text.split_inclusive('\n') {
        match line.trim_end().strip_prefix("-- ").and_then(|rest| rest.strip_suffix(" --")) {
            Some(path) => files.push((path, String::new())),
            None => files.last_mut().unwrap().1.push_str(line),
        }
    }
    files
}

/// Severity, place and summary of a diagnostic, and what is deprecated.
pub fn line(diagnostic: &serde_json::Value) -> String {
    let range = &diagnostic["range"];
    let location = match range["filename"].as_str() {
        Some(file) => format!("{file}:{}", range["start"]["line"]),
        None => String::from("-"),
    };
    let text = |name: &str| diagnostic[name].as_str().unwrap_or_default().to_owned();
    let origin = diagnostic["deprecation_origin_description"].as_str().map(|origin| format!(" ({origin})"));
    format!("{} {location} {}{}", text("severity"), in_order(&text("summary")), origin.unwrap_or_default())
}

/// The summary in such a line.
pub fn summary_in(line: &str) -> Option<&str> {
    line.splitn(3, ' ').nth(2)
}

/// Terraform lists the members of a cycle in any order.
fn in_order(summary: &str) -> String {
    let Some(members) = summary.strip_prefix("Cycle: ") else { return summary.to_owned() };
    let mut members: Vec<&str> = members.split(", ").collect();
    members.sort_unstable();
    format!("Cycle: {}", members.join(", "))
}

/// The entry that docs/differences.md must have.
const DOCUMENTED: &str = include_str!("../../../../../docs/differences.md");

/// Holds what was found against a record, a file below `tests/it`, which `GROMA_UPDATE=1` writes anew.
pub fn assert_recorded(record: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(record);
    if std::env::var_os("GROMA_UPDATE").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let recorded = std::fs::read_to_string(path).unwrap();
    assert!(recorded == found, "{}", first_difference(&recorded, found));
}

/// A difference that is meant has a row on the page, which begins so.
pub fn assert_documented(matter: &str) {
    assert!(DOCUMENTED.contains(&format!("\n| {matter}")), "not in docs/differences.md: {matter}");
}
