//! Configurations that are written down as texts, and what is said of them in a line.

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
    let place = match range["filename"].as_str() {
        Some(file) => format!("{file}:{}", range["start"]["line"]),
        None => String::from("-"),
    };
    let text = |name: &str| diagnostic[name].as_str().unwrap_or_default().to_owned();
    let origin = diagnostic["deprecation_origin_description"].as_str().map(|origin| format!(" ({origin})"));
    format!("{} {place} {}{}", text("severity"), in_order(&text("summary")), origin.unwrap_or_default())
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
