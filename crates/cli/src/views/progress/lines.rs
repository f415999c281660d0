//! Progress as lines of text, for output that is not a terminal.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use groma_address::ResourceInstance;
use groma_diagnostics::Diagnostics;
use groma_engine::hooks::{EphemeralPhase, Operation, Subject};
use groma_engine::plan::Invocation;
use groma_engine::{Hooks, Importing, Searched};
use groma_value::Value;

use super::tee::Counter;
use super::texts;
use super::ticker::{InFlight, Progress};
use crate::terminal::{Palette, Tone, printable};
use crate::views::query;

/// Writes a line when an operation starts, at intervals while it runs, and when it ends.
pub struct LineProgress {
    palette: Palette,
    out: Arc<Mutex<dyn Write + Send>>,
    counter: Arc<Counter>,
    /// Operations in flight, with their rendered identifiers.
    running: InFlight<String>,
}

impl LineProgress {
    /// Creates progress that writes to `out` and counts in `counter`.
    pub fn new(palette: Palette, out: Arc<Mutex<dyn Write + Send>>, counter: Arc<Counter>) -> Self {
        Self { palette, out, counter, running: InFlight::new() }
    }

    fn line(&self, text: impl std::fmt::Display) {
        self.pieces(&[&text.to_string()]);
    }

    /// Writes a line of these pieces. Formatting machinery is avoided, because an apply writes two lines per object.
    fn pieces(&self, pieces: &[&str]) {
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        let (open, close) = (self.palette.open(Tone::Bold), self.palette.close());
        let mut line = String::with_capacity(length + open.len() + close.len() + 1);
        line.push_str(open);
        pieces.iter().for_each(|piece| line.push_str(&printable(piece)));
        line.push_str(close);
        line.push('\n');
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // A closed pipe must not stop an apply.
        let _ = out.write_all(line.as_bytes());
    }
}

impl Hooks for LineProgress {
    fn import_planned(&self, address: &ResourceInstance, importing: &Importing) {
        self.line(format!("{address}: Preparing import...{}", texts::import_id(importing)));
    }

    fn imported(&self, address: &ResourceInstance, importing: &Importing) {
        self.counter.count_import();
        let id = texts::import_id(importing);
        self.line(format!("{address}: Importing...{id}"));
        self.line(format!("{address}: Import complete{id}"));
    }

    fn refresh_start(&self, subject: &Subject) {
        self.line(format_args!("{}: Refreshing state...{}", texts::name(subject), texts::identifier(subject)));
    }

    fn read_start(&self, address: &ResourceInstance) {
        self.apply_start(&texts::unnamed(address), Operation::Read);
    }

    fn read_complete(&self, address: &ResourceInstance, value: &Value) {
        let elapsed = self.running.elapsed(&address.to_string());
        self.apply_complete(&texts::unnamed(address), Operation::Read, value, elapsed);
    }

    fn list_complete(&self, searched: &Searched) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.write_all(query::lines(searched).as_bytes());
    }

    fn provision_start(&self, address: &ResourceInstance, provisioner: &str) {
        self.line(format!("{address}: Provisioning with '{provisioner}'..."));
    }

    fn provision_output(&self, address: &ResourceInstance, provisioner: &str, line: &str) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(
            out,
            "{} {}",
            self.palette.paint(Tone::Bold, format!("{address} ({provisioner}):")),
            printable(line)
        );
    }

    fn ephemeral_start(&self, address: &ResourceInstance, phase: EphemeralPhase) {
        let [beginning, ..] = texts::ephemeral(phase);
        self.line(format!("{address}: {beginning}"));
    }

    fn ephemeral_complete(&self, address: &ResourceInstance, phase: EphemeralPhase, elapsed: Duration) {
        let [_, done, _] = texts::ephemeral(phase);
        self.line(format!("{address}: {done} after {}", texts::rounded(elapsed)));
    }

    fn action_start(&self, invocation: &Invocation) {
        self.line(format!("Action started: {} ({})", invocation.action, texts::cause(invocation)));
    }

    fn action_progress(&self, invocation: &Invocation, message: &str) {
        let name = format!("Action {} ({}):", invocation.action, texts::cause(invocation));
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(out, "{} {}", self.palette.paint(Tone::Bold, name), printable(message));
    }

    fn action_complete(&self, invocation: &Invocation) {
        self.counter.count_invocation();
        self.line(format!("Action complete: {} ({})", invocation.action, texts::cause(invocation)));
    }

    fn action_errored(&self, invocation: &Invocation, problems: &Diagnostics) {
        let (cause, problem) = (texts::cause(invocation), texts::first_problem(problems));
        self.line(format!("Action failed: {} ({cause}) - {problem}", invocation.action));
    }

    fn apply_start(&self, subject: &Subject, operation: Operation) {
        let name = texts::name(subject);
        let identifier = texts::identifier(subject);
        self.pieces(&[&name, ": ", texts::beginning(operation), &identifier]);
        self.running.begin(name, operation, identifier);
    }

    fn apply_complete(&self, subject: &Subject, operation: Operation, value: &Value, elapsed: Duration) {
        self.counter.count(operation);
        let name = texts::name(subject);
        self.running.end(&name);
        let mut address = name;
        // Terraform names the deposed key in the start message only.
        if subject.deposed.is_some() {
            address.clear();
            subject.address.push_to(&mut address);
        }
        let (done, time) = (texts::done(operation), texts::rounded(elapsed));
        match texts::identifier_of(value) {
            Some((key, value)) => {
                self.pieces(&[&address, ": ", done, " after ", &time, " [", key, "=", &value, "]"]);
            }
            None => self.pieces(&[&address, ": ", done, " after ", &time]),
        }
    }

    fn apply_errored(&self, subject: &Subject, _operation: Operation, _problems: &Diagnostics, _elapsed: Duration) {
        self.running.end(&texts::name(subject));
    }
}

impl Progress for LineProgress {
    fn tick(&self) {
        for due in self.running.due() {
            let identifier = due.detail.trim_start_matches(" [").trim_end_matches(']');
            let separator = if identifier.is_empty() { "" } else { ", " };
            let (verb, clock) = (texts::continuing(due.operation), texts::clock(due.elapsed));
            self.line(format_args!("{}: {verb} [{identifier}{separator}{clock} elapsed]", due.name));
        }
        let _ = self.out.lock().unwrap_or_else(PoisonError::into_inner).flush();
    }

    fn settle(&self) {
        let _ = self.out.lock().unwrap_or_else(PoisonError::into_inner).flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_ephemeral_open_renew_and_close() {
        let out: Arc<Mutex<Vec<u8>>> = Arc::default();
        let sink: Arc<Mutex<dyn Write + Send>> = out.clone();
        let lines = LineProgress::new(Palette::Plain, sink, Arc::default());
        let address: ResourceInstance = "ephemeral.test_secret.s".parse().unwrap();
        for (phase, seconds) in [(EphemeralPhase::Open, 2), (EphemeralPhase::Renew, 1), (EphemeralPhase::Close, 0)] {
            lines.ephemeral_start(&address, phase);
            lines.ephemeral_complete(&address, phase, Duration::from_secs(seconds));
        }
        assert_eq!(
            String::from_utf8(out.lock().unwrap().clone()).unwrap(),
            "ephemeral.test_secret.s: Opening...\nephemeral.test_secret.s: Opening complete after 2s\n\
             ephemeral.test_secret.s: Renewing...\nephemeral.test_secret.s: Renewal complete after 1s\n\
             ephemeral.test_secret.s: Closing...\nephemeral.test_secret.s: Closing complete after 0s\n"
        );
    }
}
