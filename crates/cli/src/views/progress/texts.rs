//! Texts of progress messages, which are Terraform's.

use std::time::Duration;

use groma_address::ResourceInstance;
use groma_diagnostics::Diagnostics;
use groma_engine::Importing;
use groma_engine::hooks::{EphemeralPhase, Operation, Subject};
use groma_engine::plan::Invocation;
use groma_provider::ImportTarget;
use groma_value::{Kind, Value};

use crate::terminal::printable_line;

/// Maximum length of a shown identifier, in characters.
const LONGEST_IDENTIFIER: usize = 80;

/// Creates the subject of an instance without an identifier.
pub(super) fn unnamed(address: &ResourceInstance) -> Subject {
    Subject { address: address.clone(), deposed: None, identifier: None }
}

/// Returns the name of an object: its address, with the key of a deposed object.
pub(super) fn name(subject: &Subject) -> String {
    // Built without formatting, because an apply names every object several times.
    let mut name = String::with_capacity(64);
    subject.address.push_to(&mut name);
    if let Some(key) = &subject.deposed {
        name.push_str(" (deposed object ");
        name.push_str(key.as_str());
        name.push(')');
    }
    name
}

/// Returns the identifier as ` [id=abc]`; empty if the object has none yet.
pub(super) fn identifier(subject: &Subject) -> String {
    subject.identifier.as_ref().map(|(key, value)| format!(" [{key}={}]", shortened(value))).unwrap_or_default()
}

/// Returns the import ID as ` [id=abc]`, or the identity.
pub(super) fn import_id(importing: &Importing) -> String {
    match &importing.target {
        ImportTarget::Id(id) => format!(" [id={}]", shortened(id)),
        ImportTarget::Identity(identity) => format!(" [identity={}]", identity_of(identity)),
    }
}

/// Returns the attributes of an identity on one line.
pub fn identity_of(identity: &Value) -> String {
    let entry = |(name, value): (&groma_value::Name, &Value)| {
        let text = match value.kind() {
            Kind::String(text) => text.to_string(),
            Kind::Number(number) => number.to_string(),
            Kind::Bool(truth) => truth.to_string(),
            _ => "<null>".to_owned(),
        };
        format!("{name}={}", printable_line(&text))
    };
    let entries: Vec<String> =
        identity.as_object().map(|object| object.iter().map(entry).collect()).unwrap_or_default();
    entries.join(",")
}

/// Returns the identifying attribute of an object: its `id`, else its `name`.
pub(super) fn identifier_of(value: &Value) -> Option<(&'static str, String)> {
    let object = value.as_object()?;
    ["id", "name"].into_iter().find_map(|key| {
        let value = object.get(key)?;
        match value.kind() {
            // A sensitive ID must not appear in progress messages.
            Kind::String(text) if !value.marks().is_sensitive() && !text.is_empty() => Some((key, text.to_string())),
            _ => None,
        }
    })
}

/// Returns the text for the start of an operation.
pub(super) fn beginning(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "Creating...",
        Operation::Update => "Modifying...",
        Operation::Delete => "Destroying...",
        Operation::Read => "Reading...",
    }
}

/// Returns the text for an operation in flight.
pub(super) fn continuing(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "Still creating...",
        Operation::Update => "Still modifying...",
        Operation::Delete => "Still destroying...",
        Operation::Read => "Still reading...",
    }
}

/// Returns the text for a completed operation.
pub(super) fn done(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "Creation complete",
        Operation::Update => "Modifications complete",
        Operation::Delete => "Destruction complete",
        Operation::Read => "Read complete",
    }
}

/// Returns the text for a failed operation.
pub(super) fn failed(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "Creation errored",
        Operation::Update => "Modifications errored",
        Operation::Delete => "Destruction errored",
        Operation::Read => "Read errored",
    }
}

/// Returns the name of an operation in JSON messages.
pub(super) fn action(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "create",
        Operation::Update => "update",
        Operation::Delete => "delete",
        Operation::Read => "read",
    }
}

/// Rounds a duration to seconds, as text and JSON show it.
pub(super) fn rounded_seconds(elapsed: Duration) -> u64 {
    // Terraform rounds half up.
    elapsed.saturating_add(Duration::from_millis(500)).as_secs()
}

/// Formats a rounded duration: `0s`, `1m5s`, `2h0m1s`.
pub(super) fn rounded(elapsed: Duration) -> String {
    let seconds = rounded_seconds(elapsed);
    if seconds == 0 {
        return "0s".to_owned();
    }
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m{seconds}s"),
        (hours, minutes, seconds) => format!("{hours}h{minutes}m{seconds}s"),
    }
}

/// Formats a running time: `00m10s`.
pub(super) fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    format!("{:02}m{:02}s", seconds / 60, seconds % 60)
}

fn shortened(identifier: &str) -> String {
    let identifier = printable_line(identifier);
    if identifier.chars().count() <= LONGEST_IDENTIFIER {
        return identifier.into_owned();
    }
    // Both ends of an identifier matter: ARNs share prefixes, and generated names share suffixes.
    let half = (LONGEST_IDENTIFIER - 3) / 2;
    let start: String = identifier.chars().take(half).collect();
    let mut end: Vec<char> = identifier.chars().rev().take(LONGEST_IDENTIFIER - 3 - half).collect();
    end.reverse();
    format!("{start}...{}", end.into_iter().collect::<String>())
}

/// Returns the texts for the start, success and failure of a phase.
pub fn ephemeral(phase: EphemeralPhase) -> [&'static str; 3] {
    match phase {
        EphemeralPhase::Open => ["Opening...", "Opening complete", "Opening errored"],
        EphemeralPhase::Renew => ["Renewing...", "Renewal complete", "Renewal errored"],
        EphemeralPhase::Close => ["Closing...", "Closing complete", "Closing errored"],
    }
}

/// Returns the cause of an action invocation.
pub fn cause(invocation: &Invocation) -> String {
    match invocation.trigger() {
        Some((resource, _)) => format!("triggered by {resource}"),
        None => "triggered by CLI".to_owned(),
    }
}

/// Returns the first error on one line.
pub fn first_problem(problems: &Diagnostics) -> String {
    problems.iter().find(|problem| problem.is_error()).map_or_else(String::new, |problem| {
        if problem.detail.is_empty() {
            problem.summary.clone()
        } else {
            format!("{}: {}", problem.summary, problem.detail)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_durations() {
        assert_eq!(rounded(Duration::from_millis(499)), "0s");
        assert_eq!(rounded(Duration::from_millis(500)), "1s");
        assert_eq!(rounded_seconds(Duration::from_millis(499)), 0);
        assert_eq!(rounded_seconds(Duration::from_millis(500)), 1);
        assert_eq!(rounded(Duration::from_secs(65)), "1m5s");
        assert_eq!(rounded(Duration::from_secs(7201)), "2h0m1s");
        assert_eq!(clock(Duration::from_secs(70)), "01m10s");
    }

    #[test]
    fn identifier_has_no_control_characters() {
        assert_eq!(shortened("a\u{1b}[31m\nb"), "a\u{241b}[31m\u{240a}b");
    }

    #[test]
    fn long_identifier_is_shortened_in_the_middle() {
        assert_eq!(shortened(&"x".repeat(80)), "x".repeat(80));
        let short = shortened(&format!("{}{}", "a".repeat(60), "b".repeat(60)));
        assert_eq!(short.chars().count(), 80);
        assert!(short.contains("a...b"), "{short}");
    }
}
