//! Standard error of a plugin: log lines in JSON or plain text, and crash output.

use std::collections::VecDeque;

use serde_json::Value as Json;

/// The severity of a log line, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// The finest detail, such as the content of calls.
    Trace,
    /// Individual steps, for developers.
    Debug,
    /// Information that concerns users.
    Info,
    /// A problem that does not stop the provider.
    Warn,
    /// A failure of an operation.
    Error,
}

/// The destination of a provider's log lines.
pub trait LogSink: Send + Sync {
    /// Receives one line of the provider named `provider`.
    fn log(&self, level: LogLevel, provider: &str, line: &str);

    /// Returns the minimum level of accepted lines; `None` to accept none. Plugins are asked to omit the others.
    fn least(&self) -> Option<LogLevel>;
}

/// A sink that discards all lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLog;

impl LogSink for NoLog {
    fn log(&self, _level: LogLevel, _provider: &str, _line: &str) {}

    fn least(&self) -> Option<LogLevel> {
        None
    }
}

/// Returns the environment variables that limit the log level of a plugin named `name`. Without them, plugins built with HashiCorp's
/// SDKs log every protocol call, which costs time. Errors are always included, for the last output.
pub(super) fn log_variables(name: &str, least: Option<LogLevel>) -> Option<([String; 2], &'static str)> {
    let level = match least.unwrap_or(LogLevel::Error) {
        LogLevel::Trace => return None,
        LogLevel::Debug => "DEBUG",
        LogLevel::Info => "INFO",
        LogLevel::Warn => "WARN",
        LogLevel::Error => "ERROR",
    };
    let provider = name.rsplit('/').next().unwrap_or(name).replace('-', "_").to_ascii_uppercase();
    Some((["TF_LOG_SDK".to_owned(), format!("TF_LOG_PROVIDER_{provider}")], level))
}

/// The maximum length of a line in bytes; the remainder of a longer line becomes a separate line.
pub(super) const MAX_LINE: usize = 64 << 10;
/// The number of plain lines kept as last output.
const PLAIN_LINES: usize = 20;
/// The number of lines kept of a crash, from its first line.
const CRASH_LINES: usize = 40;
/// The number of characters kept of each line.
const MAX_KEPT_LINE: usize = 500;

/// Separates log lines from crash output, and keeps the latter for error messages.
#[derive(Debug)]
pub(super) struct StderrCollector {
    least: LogLevel,
    plain: VecDeque<String>,
    crash: Vec<String>,
    last_error: Option<String>,
}

impl StderrCollector {
    /// Creates a collector that skips log lines below `least`, by default below errors.
    pub fn new(least: Option<LogLevel>) -> Self {
        let least = least.unwrap_or(LogLevel::Error);
        Self { least, plain: VecDeque::new(), crash: Vec::new(), last_error: None }
    }

    /// Processes a line; returns its level and text for the log, unless its level is disabled.
    pub fn take(&mut self, line: &str) -> Option<(LogLevel, String)> {
        // The cheap test first: most lines are below the level, and parsing their JSON would be the major cost.
        if self.crash.is_empty() && quick_level(line).is_some_and(|level| level < self.least) {
            return None;
        }
        if self.crash.is_empty()
            && let Some((level, text)) = structured(line)
        {
            if level == LogLevel::Error {
                self.last_error = Some(truncated(&text));
            }
            return Some((level, text));
        }
        let starts_crash = ["panic: ", "fatal error: ", "thread '"].iter().any(|start| line.starts_with(start));
        if (starts_crash || !self.crash.is_empty()) && self.crash.len() < CRASH_LINES {
            self.crash.push(truncated(line));
        }
        if !self.crash.is_empty() {
            return Some((LogLevel::Error, line.to_owned()));
        }
        let (level, text) = prefixed(line);
        if !text.trim().is_empty() {
            // A ring buffer: a plugin may write any amount of output before it fails.
            if self.plain.len() == PLAIN_LINES {
                self.plain.pop_front();
            }
            self.plain.push_back(truncated(line));
        }
        Some((level, text.to_owned()))
    }

    /// Returns the output to show after the exit: the crash, or else the last plain lines, or else the last logged
    /// error.
    pub fn last(&self) -> String {
        if !self.crash.is_empty() {
            return self.crash.join("\n");
        }
        if !self.plain.is_empty() {
            return self.plain.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
        }
        self.last_error.clone().unwrap_or_default()
    }
}

/// Truncates a line and replaces control characters, which could disturb a terminal.
fn truncated(line: &str) -> String {
    line.chars().take(MAX_KEPT_LINE).map(|c| if c.is_control() && c != '\t' { ' ' } else { c }).collect()
}

/// Returns the level of a line in hclog's format without parsing the line.
fn quick_level(line: &str) -> Option<LogLevel> {
    level_of(line.strip_prefix("{\"@level\":\"")?.split('"').next()?)
}

/// Parses a JSON log line in hclog's format into level and text: the message, followed by the other fields.
fn structured(line: &str) -> Option<(LogLevel, String)> {
    if !line.starts_with('{') {
        return None;
    }
    let Json::Object(entries) = serde_json::from_str(line).ok()? else { return None };
    let message = entries.get("@message")?.as_str()?;
    let level = entries.get("@level").and_then(Json::as_str).and_then(level_of).unwrap_or(LogLevel::Debug);
    // The order of hclog's own text format: module, message, fields.
    let mut text = match entries.get("@module").and_then(Json::as_str) {
        Some(module) => format!("{module}: {message}"),
        None => message.to_owned(),
    };
    for (name, value) in entries.iter().filter(|(name, _)| !name.starts_with('@')) {
        text.push(' ');
        text.push_str(name);
        text.push('=');
        match value {
            Json::String(value) if !value.contains([' ', '"', '\n']) => text.push_str(value),
            other => text.push_str(&other.to_string()),
        }
    }
    Some((level, text))
}

/// Parses a plain line, which may start with its level in brackets.
fn prefixed(line: &str) -> (LogLevel, &str) {
    if let Some((word, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        && let Some(level) = level_of(word)
    {
        return (level, rest.trim_start());
    }
    (LogLevel::Debug, line)
}

fn level_of(word: &str) -> Option<LogLevel> {
    Some(match &*word.to_ascii_lowercase() {
        "trace" => LogLevel::Trace,
        "debug" => LogLevel::Debug,
        "info" => LogLevel::Info,
        "warn" | "warning" => LogLevel::Warn,
        "error" | "err" => LogLevel::Error,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(line: &str) -> (LogLevel, String) {
        StderrCollector::new(Some(LogLevel::Trace)).take(line).unwrap()
    }

    #[test]
    fn json_line_keeps_level_module_and_fields() {
        let line = r#"{"@level":"warn","@message":"slow","@module":"sdk","@timestamp":"x","tries":3,"why":"a b"}"#;
        assert_eq!(taken(line), (LogLevel::Warn, r#"sdk: slow tries=3 why="a b""#.to_owned()));
    }

    #[test]
    fn plain_line_may_start_with_its_level() {
        assert_eq!(taken("[INFO] ready"), (LogLevel::Info, "ready".to_owned()));
        assert_eq!(taken("[0] ready"), (LogLevel::Debug, "[0] ready".to_owned()));
        assert_eq!(taken("{not json"), (LogLevel::Debug, "{not json".to_owned()));
    }

    #[test]
    fn lines_below_log_level_are_skipped() {
        let mut words = StderrCollector::new(Some(LogLevel::Info));
        assert_eq!(words.take(r#"{"@level":"trace","@message":"call"}"#), None);
        assert!(words.take(r#"{"@level":"info","@message":"ready"}"#).is_some());
        let (names, level) =
            log_variables("registry.terraform.io/hashicorp/google-beta", Some(LogLevel::Info)).unwrap();
        assert_eq!((names[1].as_str(), level), ("TF_LOG_PROVIDER_GOOGLE_BETA", "INFO"));
        assert_eq!(log_variables("a/b", None).unwrap().1, "ERROR");
        assert_eq!(log_variables("a/b", Some(LogLevel::Trace)), None);
    }

    #[test]
    fn start_of_crash_output_is_kept() {
        let mut words = StderrCollector::new(None);
        words.take("something before");
        words.take("panic: nil map");
        for n in 0..1000 {
            assert_eq!(words.take(&format!("goroutine {n}")).unwrap().0, LogLevel::Error);
        }
        // The beginning of a crash names its cause; the goroutines after it only add bulk.
        let last = words.last();
        assert!(last.starts_with("panic: nil map\ngoroutine 0\n") && last.lines().count() == CRASH_LINES);
    }

    #[test]
    fn without_crash_last_plain_lines_or_last_error_are_kept() {
        let mut words = StderrCollector::new(None);
        words.take(r#"{"@level":"error","@message":"cannot log in"}"#);
        assert_eq!(words.last(), "cannot log in");
        for n in 0..100 {
            words.take(&format!("line {n}"));
        }
        assert!(words.last().starts_with("line 80\n") && words.last().ends_with("line 99"));
    }
}
