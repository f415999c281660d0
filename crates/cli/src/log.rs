//! The log of `TF_LOG`: what the program does, for whoever looks for the cause of a problem. It never holds values.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use groma_address::ResourceInstance;
use groma_diagnostics::Diagnostics;
use groma_engine::Hooks;
use groma_engine::hooks::{EphemeralPhase, Operation, Subject};
use groma_engine::invocation::Invocation;
use groma_value::Value;

use crate::clock;
use crate::settings::LogSettings;
use crate::views::progress::Progress;

/// How important a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Every step.
    Debug,
    /// What a user would want to know.
    Info,
    /// What went wrong.
    Error,
}

/// Where lines go.
#[derive(Clone, Debug, Default)]
pub struct Log(Option<Arc<Target>>);

#[derive(Debug)]
struct Target {
    least: Level,
    file: Option<Mutex<File>>,
}

impl Log {
    /// The log that the settings ask for; a file that cannot be opened leaves standard error.
    pub fn open(settings: Option<&LogSettings>) -> Self {
        let Some(settings) = settings else { return Self(None) };
        let least = match &*settings.level {
            "ERROR" | "WARN" => Level::Error,
            "INFO" => Level::Info,
            _ => Level::Debug,
        };
        let file = settings.path.as_ref().and_then(|path| OpenOptions::new().create(true).append(true).open(path).ok());
        Self(Some(Arc::new(Target { least, file: file.map(Mutex::new) })))
    }

    /// The least important lines that it takes; `None` when it takes none.
    pub fn least(&self) -> Option<Level> {
        self.0.as_ref().map(|target| target.least)
    }

    /// Writes a line.
    pub fn write(&self, level: Level, text: impl FnOnce() -> String) {
        let Some(target) = self.0.as_ref().filter(|target| level >= target.least) else { return };
        let word = match level {
            Level::Debug => "DEBUG",
            Level::Info => "INFO",
            Level::Error => "ERROR",
        };
        let line = format!("{} [{word}] {}\n", clock::now_in_microseconds(), text());
        // A log that cannot be written must not stop what it tells of.
        let _ = match &target.file {
            Some(file) => file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes()),
            None => std::io::stderr().lock().write_all(line.as_bytes()),
        };
    }

    /// `progress`, told to the log too.
    pub fn watch(&self, progress: Arc<dyn Progress>) -> Arc<dyn Progress> {
        if self.0.is_none() {
            return progress;
        }
        Arc::new(Logged { log: self.clone(), progress })
    }
}

struct Logged {
    log: Log,
    progress: Arc<dyn Progress>,
}

impl Progress for Logged {
    fn tick(&self) {
        self.progress.tick();
    }

    fn settle(&self) {
        self.progress.settle();
    }
}

impl Hooks for Logged {
    fn import_planned(&self, address: &ResourceInstance, importing: &groma_engine::Importing) {
        self.log.write(Level::Debug, || format!("{address}: import"));
        self.progress.import_planned(address, importing);
    }

    fn imported(&self, address: &ResourceInstance, importing: &groma_engine::Importing) {
        self.log.write(Level::Info, || format!("{address}: was imported"));
        self.progress.imported(address, importing);
    }

    fn refresh_start(&self, subject: &Subject) {
        self.log.write(Level::Debug, || format!("{}: read", subject.address));
        self.progress.refresh_start(subject);
    }

    fn refresh_complete(&self, subject: &Subject) {
        self.log.write(Level::Debug, || format!("{}: was read", subject.address));
        self.progress.refresh_complete(subject);
    }

    fn read_start(&self, address: &ResourceInstance) {
        self.log.write(Level::Debug, || format!("{address}: read"));
        self.progress.read_start(address);
    }

    fn read_complete(&self, address: &ResourceInstance, value: &Value) {
        self.log.write(Level::Debug, || format!("{address}: was read"));
        self.progress.read_complete(address, value);
    }

    fn provision_start(&self, address: &ResourceInstance, provisioner: &str) {
        self.log.write(Level::Info, || format!("{address}: {provisioner}"));
        self.progress.provision_start(address, provisioner);
    }

    fn provision_output(&self, address: &ResourceInstance, provisioner: &str, line: &str) {
        self.progress.provision_output(address, provisioner, line);
    }

    fn provision_complete(&self, address: &ResourceInstance, provisioner: &str) {
        self.progress.provision_complete(address, provisioner);
    }

    fn provision_errored(&self, address: &ResourceInstance, provisioner: &str) {
        self.progress.provision_errored(address, provisioner);
    }

    fn ephemeral_start(&self, address: &ResourceInstance, phase: EphemeralPhase) {
        self.log.write(Level::Debug, || format!("{address}: {phase:?} begins"));
        self.progress.ephemeral_start(address, phase);
    }

    fn ephemeral_complete(&self, address: &ResourceInstance, phase: EphemeralPhase, elapsed: Duration) {
        self.log.write(Level::Debug, || format!("{address}: {phase:?} took {elapsed:?}"));
        self.progress.ephemeral_complete(address, phase, elapsed);
    }

    fn ephemeral_errored(&self, address: &ResourceInstance, phase: EphemeralPhase, elapsed: Duration) {
        self.log.write(Level::Error, || format!("{address}: {phase:?} failed"));
        self.progress.ephemeral_errored(address, phase, elapsed);
    }

    fn action_start(&self, invocation: &Invocation) {
        self.log.write(Level::Info, || format!("{} begins", invocation.action));
        self.progress.action_start(invocation);
    }

    fn action_progress(&self, invocation: &Invocation, message: &str) {
        self.progress.action_progress(invocation, message);
    }

    fn action_complete(&self, invocation: &Invocation) {
        self.log.write(Level::Info, || format!("{} ended well", invocation.action));
        self.progress.action_complete(invocation);
    }

    fn action_errored(&self, invocation: &Invocation, problems: &Diagnostics) {
        self.log.write(Level::Error, || format!("{} failed", invocation.action));
        self.progress.action_errored(invocation, problems);
    }

    fn apply_start(&self, subject: &Subject, operation: Operation) {
        self.log.write(Level::Info, || format!("{}: {operation:?} begins", subject.address));
        self.progress.apply_start(subject, operation);
    }

    fn apply_complete(&self, subject: &Subject, operation: Operation, value: &Value, elapsed: Duration) {
        self.log.write(Level::Info, || format!("{}: {operation:?} took {elapsed:?}", subject.address));
        self.progress.apply_complete(subject, operation, value, elapsed);
    }

    fn apply_errored(&self, subject: &Subject, operation: Operation, problems: &Diagnostics, elapsed: Duration) {
        let summaries = || problems.iter().map(|problem| problem.summary.as_str()).collect::<Vec<_>>().join("; ");
        self.log.write(Level::Error, || {
            format!("{}: {operation:?} failed after {elapsed:?}: {}", subject.address, summaries())
        });
        self.progress.apply_errored(subject, operation, problems, elapsed);
    }
}
