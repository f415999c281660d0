//! The sentences of progress.

use std::time::Duration;

use groma_address::ResourceInstance;
use groma_diagnostics::Diagnostics;
use groma_engine::Importing;
use groma_engine::hooks::{EphemeralPhase, Operation, Subject};
use groma_engine::invocation::Invocation;
use groma_provider::ImportTarget;
use groma_value::{Kind, Value};

use crate::terminal::printable_line;

/// Characters of an identifier that are shown.
const LONGEST_IDENTIFIER: usize = 80;

/// An instance of which nothing but the address is known.
pub(super) fn unnamed(address: &ResourceInstance) -> Subject {
    Subject { address: address.clone(), deposed: None, identifier: None }
}

/// The object as people know it: its address, and which deposed object of it.
pub(super) fn name(subject: &Subject) -> String {
    let mut name = String::with_capacity(64);
    subject.address.push_to(&mut name);
    if let Some(key) = &subject.deposed {
        name.push_str(" (deposed object ");
        name.push_str(key.as_str());
        name.push(')');
    }
    name
}

/// ` [id=abc]`; nothing if the object has no identifier yet.
pub(super) fn identifier(subject: &Subject) -> String {
    subject.identifier.as_ref().map(|(key, value)| format!(" [{key}={}]", shortened(value))).unwrap_or_default()
}

/// ` [id=abc]` of an object that is taken over.
pub(super) fn import_id(importing: &Importing) -> String {
    match &importing.target {
        ImportTarget::Id(id) => format!(" [id={}]", shortened(id)),
        ImportTarget::Identity(identity) => format!(" [identity={}]", identity_of(identity)),
    }
}

/// The attributes of an identity in one line.
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

/// The attribute that people know the new object by.
pub(super) fn identifier_of(value: &Value) -> Option<(&'static str, String)> {
    let object = value.as_object()?;
    ["id", "name"].into_iter().find_map(|key| {
        let value = object.get(key)?;
        match value.kind() {
            Kind::String(text) if !value.marks().is_sensitive() && !text.is_empty() => Some((key, text.to_string())),
            _ => None,
        }
    })
}

/// Returns the report of an operation's start.
pub(super) fn beginning(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "Creating...",
        Operation::Update => "Modifying...",
        Operation::Delete => "Destroying...",
        Operation::Read => "Reading...",
    }
}

/// Returns the report of an operation in progress.
pub(super) fn continuing(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "Still creating...",
        Operation::Update => "Still modifying...",
        Operation::Delete => "Still destroying...",
        Operation::Read => "Still reading...",
    }
}

/// Returns the report of a finished operation.
pub(super) fn done(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "Creation complete",
        Operation::Update => "Modifications complete",
        Operation::Delete => "Destruction complete",
        Operation::Read => "Read complete",
    }
}

/// Returns the summary of a failed operation.
pub(super) fn failed(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "Creation errored",
        Operation::Update => "Modifications errored",
        Operation::Delete => "Destruction errored",
        Operation::Read => "Read errored",
    }
}

/// The word of programs for an operation.
pub(super) fn action(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "create",
        Operation::Update => "update",
        Operation::Delete => "delete",
        Operation::Read => "read",
    }
}

/// The elapsed seconds in text and JSON, rounded.
pub(super) fn rounded_seconds(elapsed: Duration) -> u64 {
    elapsed.saturating_add(Duration::from_millis(500)).as_secs()
}

/// `0s`, `1m5s`, `2h0m1s`.
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

/// `00m10s`.
pub(super) fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    format!("{:02}m{:02}s", seconds / 60, seconds % 60)
}

fn shortened(identifier: &str) -> String {
    let identifier = printable_line(identifier);
    if identifier.chars().count() <= LONGEST_IDENTIFIER {
        return identifier.into_owned();
    }
    let half = (LONGEST_IDENTIFIER - 3) / 2;
    let start: String = identifier.chars().take(half).collect();
    let mut end: Vec<char> = identifier.chars().rev().take(LONGEST_IDENTIFIER - 3 - half).collect();
    end.reverse();
    format!("{start}...{}", end.into_iter().collect::<String>())
}

/// Beginning, end and failure of opening, renewing or closing.
pub fn ephemeral(phase: EphemeralPhase) -> [&'static str; 3] {
    match phase {
        EphemeralPhase::Open => ["Opening...", "Opening complete", "Opening errored"],
        EphemeralPhase::Renew => ["Renewing...", "Renewal complete", "Renewal errored"],
        EphemeralPhase::Close => ["Closing...", "Closing complete", "Closing errored"],
    }
}

/// Describes the trigger of an invocation.
pub fn cause(invocation: &Invocation) -> String {
    match invocation.trigger() {
        Some((resource, _)) => format!("triggered by {resource}"),
        None => "triggered by CLI".to_owned(),
    }
}

/// The first thing that went wrong.
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
    fn times_are_short() {
        assert_eq!(rounded(Duration::from_millis(499)), "0s");
        assert_eq!(rounded(Duration::from_millis(500)), "1s");
        assert_eq!(rounded_seconds(Duration::from_millis(499)), 0);
        assert_eq!(rounded_seconds(Duration::from_millis(500)), 1);
        assert_eq!(rounded(Duration::from_secs(65)), "1m5s");
        assert_eq!(rounded(Duration::from_secs(7201)), "2h0m1s");
        assert_eq!(clock(Duration::from_secs(70)), "01m10s");
    }

    #[test]
    fn an_identifier_does_not_steer_the_terminal() {
        assert_eq!(shortened("a\u{1b}[31m\nb"), "a\u{241b}[31m\u{240a}b");
    }

    #[test]
    fn a_long_identifier_is_cut_in_the_middle() {
        assert_eq!(shortened(&"x".repeat(80)), "x".repeat(80));
        let short = shortened(&format!("{}{}", "a".repeat(60), "b".repeat(60)));
        assert_eq!(short.chars().count(), 80);
        assert!(short.contains("a...b"), "{short}");
    }
}
