//! Output of two programs made comparable.

use std::path::PathBuf;
use std::process::Command;

/// A Terraform 1.15 to hold against: the one that `GROMA_TERRAFORM` names, or the one on the path.
pub fn terraform() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("GROMA_TERRAFORM") {
        return Some(named.into());
    }
    let version = Command::new("terraform").args(["version", "-json"]).env("CHECKPOINT_DISABLE", "1").output().ok();
    let version = version.and_then(|ran| serde_json::from_slice::<serde_json::Value>(&ran.stdout).ok());
    if version.is_some_and(|json| json["terraform_version"].as_str().is_some_and(|text| text.starts_with("1.15."))) {
        return Some("terraform".into());
    }
    println!("skipped: no terraform");
    None
}

/// The text without what must differ: ids and the order of progress.
pub fn normalize(text: &str) -> String {
    let text = normalize_ids(text);
    let mut lines: Vec<&str> = Vec::new();
    let mut progress: Vec<&str> = Vec::new();
    for line in text.lines() {
        if let Some(at) = line.find(" (deposed object ") {
            // The key of a deposed object is made up.
            progress.push(&line[..at]);
        } else if is_progress(line) {
            // How long it took is not to be compared.
            progress.push(line.split(" after ").next().unwrap_or(line));
        } else {
            progress.sort_unstable();
            lines.append(&mut progress);
            lines.push(line);
        }
    }
    progress.sort_unstable();
    lines.append(&mut progress);
    lines.join("\n")
}

fn is_progress(line: &str) -> bool {
    let words =
        ["Refreshing state...", "Creating...", "Creation complete", "Modif", "Destr", "Reading...", "Read complete"];
    !line.starts_with(' ') && words.iter().any(|word| line.contains(&format!(": {word}")))
}

/// The text with the same stand-in for every UUID and time.
pub fn normalize_ids(text: &str) -> String {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_uuid = |text: &str| {
        let groups: Vec<&str> = text.split('-').collect();
        groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]) && groups.iter().all(|group| is_hex(group))
    };
    let is_time =
        |text: &str| text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).eq("0000-00-00T00:00:00Z".chars());
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if rest.get(..36).is_some_and(is_uuid) {
            out.push_str("ID");
            rest = &rest[36..];
        } else if rest.get(..20).is_some_and(is_time) {
            out.push_str("TIME");
            rest = &rest[20..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// Where two texts begin to differ, with a few lines around.
pub fn first_difference(theirs: &str, ours: &str) -> String {
    let at = theirs.lines().zip(ours.lines()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| text.lines().skip(at.saturating_sub(8)).take(16).collect::<Vec<_>>().join("\n");
    format!("from line {}\n--- terraform\n{}\n--- groma\n{}", at + 1, around(theirs), around(ours))
}
