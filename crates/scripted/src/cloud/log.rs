//! The record of operations, one line for each event.

use std::fmt;

use super::store::Operation;

/// The progress of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The provider was called.
    Begun,
    /// The operation took place.
    Done,
    /// The cloud refused the operation, or a test made it fail; the reason.
    Failed(String),
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The number of the operation, the same for its begin and its end.
    pub number: u64,
    /// The kind of operation.
    pub operation: Operation,
    /// The object's identifier, or its name while it has none.
    pub object: String,
    /// The progress of the operation.
    pub outcome: Outcome,
}

impl Event {
    /// Returns the object's name: its identifier without the counter.
    pub fn name(&self) -> &str {
        self.object.split('#').next().unwrap_or_default()
    }

    /// Parses a line of the log; nothing where the line was cut off by a kill.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (line, reason) = line.split_once(": ").unwrap_or((line, ""));
        let mut words = line.split(' ');
        let number = words.next()?.parse().ok()?;
        let outcome = match words.next()? {
            "begin" => Outcome::Begun,
            "done" => Outcome::Done,
            "failed" => Outcome::Failed(reason.to_owned()),
            _ => return None,
        };
        let operation = Operation::parse(words.next()?)?;
        Some(Self { number, operation, object: words.next()?.to_owned(), outcome })
    }
}

/// `3 done create web#1`
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (outcome, reason) = match &self.outcome {
            Outcome::Begun => ("begin", String::new()),
            Outcome::Done => ("done", String::new()),
            Outcome::Failed(reason) => ("failed", format!(": {reason}")),
        };
        write!(f, "{} {outcome} {} {}{reason}", self.number, self.operation.as_str(), self.object)
    }
}
