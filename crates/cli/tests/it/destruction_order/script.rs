//! The language of scenarios: texts with values and conditional lines, and operations as text.

use std::fmt::Write as _;

use groma_scripted::cloud::{Event, Operation, Outcome};

/// The beginning of every configuration. The provider `kube` has an endpoint in the cloud.
pub const REQUIREMENTS: &str = "terraform {\n  required_providers {\n    cloud = { source = \"example/cloud\" }\n    kube  = { source = \"example/kube\" }\n  }\n}\n\n";

/// Parses `create web`.
pub fn parse(operation: &str) -> (Operation, &str) {
    let (word, name) = operation.split_once(' ').unwrap();
    let all =
        [Operation::Create, Operation::Update, Operation::Delete, Operation::Read, Operation::Open, Operation::Invoke];
    (all.into_iter().find(|operation| operation.as_str() == word).unwrap(), name)
}

/// Whether an event is about the operation `delete web`, or `delete web#1` where that tells objects apart.
pub fn matches(event: &Event, operation: &str) -> bool {
    let (kind, object) = parse(operation);
    // A label with a number tells an old object from its replacement.
    event.operation == kind && (event.object == object || event.name() == object)
}

/// Whether one operation ended before another began.
pub fn is_before(events: &[Event], first: &str, second: &str) -> bool {
    // The first must be completed, not only begun.
    let end = events.iter().position(|event| event.outcome == Outcome::Done && matches(event, first));
    let begin = events.iter().position(|event| event.outcome == Outcome::Begun && matches(event, second));
    end.zip(begin).is_some_and(|(end, begin)| end < begin)
}

/// Returns the text with the values and the lines that a step has.
pub fn filled(text: &str, values: &str) -> String {
    let words: Vec<&str> = values.split(' ').collect();
    let mut filled = String::new();
    for line in text.lines() {
        // Indentation has no meaning, but markers must be at the start of a line.
        let line = line.trim_start();
        let kept = match line.split_at_checked(1) {
            // `?name` keeps the line while the step says `name`, `!name` while it does not.
            Some(("?", rest)) => conditional(rest, |word| words.contains(&word)),
            Some(("!", rest)) => conditional(rest, |word| !words.contains(&word)),
            _ => Some(line),
        };
        kept.into_iter().for_each(|line| writeln!(filled, "{line}").unwrap());
    }
    for (name, value) in words.iter().filter_map(|word| word.split_once('=')) {
        filled = filled.replace(&format!("<{name}>"), value);
    }
    filled
}

fn conditional(rest: &str, applies: impl Fn(&str) -> bool) -> Option<&str> {
    let (word, line) = rest.split_once(' ').unwrap();
    applies(word).then_some(line)
}
