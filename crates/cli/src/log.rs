//! The debug log of `TF_LOG`. It never contains values of attributes.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use groma_address::ResourceInstance;
use groma_diagnostics::{Diagnostics, io_reason};
use groma_engine::Hooks;
use groma_engine::hooks::{EphemeralPhase, Operation, Subject};
use groma_engine::plan::Invocation;
use groma_value::Value;
use serde_json::json;

use crate::clock;
use crate::environment::Environment;
use crate::terminal::printable_line;
use crate::views::progress::Progress;

/// Severity of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Individual steps, such as reads and provider calls.
    Debug,
    /// Changes of objects, and actions.
    Info,
    /// Failed operations, and all diagnostics.
    Error,
}

/// Format of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Text,
    /// One JSON object per line: `TF_LOG=json`.
    Json,
}

/// Levels, format and target of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogSettings {
    /// Minimum level of the program's own lines: `TF_LOG`, else `TF_LOG_CORE`.
    pub core: Option<Level>,
    /// Minimum level of provider lines: `TF_LOG`, else `TF_LOG_PROVIDER`.
    pub providers: Option<Level>,
    pub format: Format,
    /// File to append to, instead of standard error: `TF_LOG_PATH`.
    pub path: Option<PathBuf>,
    /// Unknown level names. As in Terraform, they enable all levels.
    pub invalid: Vec<String>,
}

impl LogSettings {
    /// Reads the log settings from `environment`.
    pub fn of(environment: &Environment) -> Self {
        let mut settings = Self { path: environment.path("TF_LOG_PATH"), ..Self::default() };
        match environment.text("TF_LOG") {
            // TF_LOG overrides the two specific variables.
            Some(word) => {
                settings.core = settings.level(word);
                settings.providers = settings.core;
            }
            None => {
                settings.core = environment.text("TF_LOG_CORE").and_then(|word| settings.level(word));
                settings.providers = environment.text("TF_LOG_PROVIDER").and_then(|word| settings.level(word));
            }
        }
        settings
    }

    /// Parses a level; `JSON` also selects the format.
    fn level(&mut self, word: &str) -> Option<Level> {
        match &*word.to_ascii_uppercase() {
            "OFF" => None,
            // There is no separate level for warnings.
            "ERROR" | "WARN" => Some(Level::Error),
            "INFO" => Some(Level::Info),
            "DEBUG" | "TRACE" => Some(Level::Debug),
            "JSON" => {
                self.format = Format::Json;
                Some(Level::Debug)
            }
            invalid => {
                self.invalid.push(invalid.to_owned());
                // An unknown level enables everything, because somebody is looking for a problem.
                Some(Level::Debug)
            }
        }
    }
}

/// Handle of the log, which is disabled by default. Clones share their target.
#[derive(Clone, Debug, Default)]
pub struct Log(Option<Arc<Target>>);

#[derive(Debug)]
struct Target {
    core: Option<Level>,
    providers: Option<Level>,
    format: Format,
    file: Option<Mutex<File>>,
}

impl Log {
    /// Opens the log. Invalid settings are reported on standard error and do not stop the command: the log falls back to standard error
    /// if its file cannot be opened, and to all levels if its level is unknown.
    pub fn open(settings: &LogSettings) -> Self {
        for word in &settings.invalid {
            report(&format!(
                "[WARN] Invalid log level: {word:?}. Defaulting to level: TRACE. Valid levels are: [TRACE DEBUG INFO WARN ERROR OFF JSON]"
            ));
        }
        // Without any level no file is created.
        if settings.core.is_none() && settings.providers.is_none() {
            return Self(None);
        }
        let file = settings.path.as_ref().and_then(|path| {
            // Appended, because one file collects the logs of several commands.
            let opened = OpenOptions::new().create(true).append(true).open(path);
            let opened = opened.inspect_err(|error| {
                report(&format!("Error opening log file: open {}: {}", path.display(), io_reason(error)));
            });
            opened.ok().map(Mutex::new)
        });
        let LogSettings { core, providers, format, .. } = *settings;
        Self(Some(Arc::new(Target { core, providers, format, file })))
    }

    /// Returns the minimum level of provider lines; `None` if they are not logged.
    pub fn least_of_providers(&self) -> Option<Level> {
        self.0.as_ref().and_then(|target| target.providers)
    }

    /// Logs a line of the program.
    pub fn write(&self, level: Level, text: impl FnOnce() -> String) {
        // The text is only built if it is logged.
        let target = self.0.as_ref().filter(|target| target.core.is_some_and(|least| level >= least));
        target.inspect(|target| target.write(level, &text()));
    }

    /// Logs a line of a provider.
    pub fn write_of_provider(&self, level: Level, text: impl FnOnce() -> String) {
        let target = self.0.as_ref().filter(|target| target.providers.is_some_and(|least| level >= least));
        target.inspect(|target| target.write(level, &text()));
    }

    /// Wraps `progress` so that its events are also logged.
    pub fn watch(&self, progress: Arc<dyn Progress>) -> Arc<dyn Progress> {
        // Without a log, hooks are called directly.
        if self.0.is_none() {
            return progress;
        }
        Arc::new(Logged { log: self.clone(), progress })
    }
}

impl Target {
    fn write(&self, level: Level, text: &str) {
        let word = match level {
            Level::Debug => "DEBUG",
            Level::Info => "INFO",
            Level::Error => "ERROR",
        };
        let now = clock::now_in_microseconds();
        let line = match self.format {
            Format::Text => format!("{now} [{word}] {}\n", printable_line(text)),
            Format::Json => {
                let level = word.to_ascii_lowercase();
                format!("{}\n", json!({ "@level": level, "@message": text, "@timestamp": now }))
            }
        };
        // A log that cannot be written must not stop the run that it describes.
        let _ = match &self.file {
            Some(file) => file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes()),
            None => std::io::stderr().lock().write_all(line.as_bytes()),
        };
    }
}

/// Writes a line about the log itself to standard error.
fn report(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", printable_line(text));
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
        // Lines of provisioners are never logged: they may contain secrets.
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
        // Only summaries are logged: details may contain values of attributes.
        let summaries = || problems.iter().map(|problem| problem.summary.as_str()).collect::<Vec<_>>().join("; ");
        self.log.write(Level::Error, || {
            format!("{}: {operation:?} failed after {elapsed:?}: {}", subject.address, summaries())
        });
        self.progress.apply_errored(subject, operation, problems, elapsed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> LogSettings {
        LogSettings::of(&pairs.iter().copied().collect())
    }

    #[test]
    fn parses_core_and_provider_levels() {
        let all = of(&[("TF_LOG", "info"), ("TF_LOG_CORE", "error"), ("TF_LOG_PROVIDER", "debug")]);
        assert_eq!((all.core, all.providers), (Some(Level::Info), Some(Level::Info)));
        let apart = of(&[("TF_LOG_CORE", "error"), ("TF_LOG_PROVIDER", "trace")]);
        assert_eq!((apart.core, apart.providers), (Some(Level::Error), Some(Level::Debug)));
        // "off" in TF_LOG also overrides the specific variables.
        assert_eq!(of(&[("TF_LOG", "off"), ("TF_LOG_CORE", "info")]), LogSettings::default());
        assert_eq!(of(&[("TF_LOG", "json")]).format, Format::Json);
        assert_eq!(of(&[("TF_LOG", "bogus")]).invalid, ["BOGUS"]);
    }
}
