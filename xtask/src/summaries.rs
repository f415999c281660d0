//! Code that decides on the summary of a diagnostic.
//!
//! A summary is text for people and may change; what code decides on is `DiagnosticKind`. The check finds comparisons
//! and searches of a field `summary`, however the lines are broken.

use std::fs;
use std::path::PathBuf;

use crate::structure::code;

/// The field that holds a summary.
const FIELD: &str = ".summary";

/// Conversions of a string that keep its text.
const CONVERSIONS: [&str; 5] = [".as_str()", ".as_ref()", ".as_deref()", ".trim()", ".clone()"];

/// Operators and methods that compare or search the string before them.
const DECISIONS: [&str; 9] =
    ["==", "!=", ".starts_with(", ".ends_with(", ".contains(", ".find(", ".strip_prefix(", ".eq(", ".strip_suffix("];

/// Returns an error that lists every decision on a summary in `files`.
pub fn check(files: &[PathBuf]) -> Result<(), String> {
    let mut problems = Vec::new();
    for path in files {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        problems.extend(decisions(&code(&text)).into_iter().map(|line| format!("{}: {line}", path.display())));
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(format!(
        "code decides on the summary of a diagnostic:\n  {}\nGive the diagnostic a DiagnosticKind and decide on that.",
        problems.join("\n  ")
    ))
}

/// The expressions in which a summary decides something.
fn decisions(text: &str) -> Vec<String> {
    // Without line breaks, a chain of calls reads the same wherever it was broken.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace(" .", ".");
    let mut found = Vec::new();
    for (at, name) in text.match_indices(FIELD) {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        if after.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let receiver = before.rfind(|c: char| !c.is_alphanumeric() && !"_.*&".contains(c)).map_or(0, |at| at + 1);
        if is_decided_after(without_conversions(after)) || is_decided_before(before[..receiver].trim_end()) {
            found.push(text[receiver..].chars().take(80).collect());
        }
    }
    found
}

fn is_decided_after(after: &str) -> bool {
    DECISIONS.iter().filter_map(|decision| after.strip_prefix(decision)).any(|other| {
        // Two diagnostics may be compared: that asks whether they are the same, not what they are.
        let other = other.trim_start_matches([' ', '&', '*']);
        let end = other.find(|c: char| !c.is_alphanumeric() && !"_.".contains(c)).unwrap_or(other.len());
        !other[..end].ends_with(FIELD)
    })
}

fn is_decided_before(before: &str) -> bool {
    let compared = ["==", "!="].iter().find_map(|operator| before.strip_suffix(operator));
    let is_text = compared.is_some_and(|left| !left.trim_end().ends_with(FIELD));
    is_text || before.ends_with("matches!(") || before == "match" || before.ends_with(" match")
}

/// Skips calls that return the same text, and the spaces after them.
fn without_conversions(mut after: &str) -> &str {
    after = after.strip_prefix("()").unwrap_or(after);
    while let Some(rest) = CONVERSIONS.iter().find_map(|conversion| after.strip_prefix(conversion)) {
        after = rest;
    }
    after.trim_start()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_on_summaries_are_found() {
        for text in [
            r#"if problem.summary == "Invalid index" {}"#,
            r#"if "Invalid index" != problem.summary {}"#,
            "problem.summary.starts_with(PREFIX)",
            "problem\n    .summary\n    .as_str()\n    .contains(\"plan\")",
            "match diagnostic.summary.as_str() {",
            "matches!(&*one.summary, SUMMARY)",
            "errors.iter().any(|error| error.summary() == TEXT)",
        ] {
            assert_eq!(decisions(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn showing_and_comparing_diagnostics_is_no_decision() {
        for text in [
            r#"format!("{}: {}", problem.summary, problem.detail)"#,
            "other.summary == problem.summary && other.detail == problem.detail",
            "Diagnostic { summary: text, ..problem }",
            "if !function.summary.is_empty() { insert(function.summary.as_str()) }",
            "problem.summary_line == 1",
        ] {
            assert_eq!(decisions(text), [""; 0], "{text}");
        }
    }
}
