//! What a plugin writes on its standard error: log lines in JSON or as plain text, and the words of a crash.

use std::collections::VecDeque;

use serde_json::Value as Json;

/// How important a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// Every detail.
    Trace,
    /// Every step.
    Debug,
    /// What a user would want to know.
    Info,
    /// What may be wrong.
    Warn,
    /// What went wrong.
    Error,
}

/// Where the log lines of a provider go.
pub trait LogSink: Send + Sync {
    /// Takes one line of the provider called `provider`.
    fn log(&self, level: LogLevel, provider: &str, line: &str);

    /// The least level of the lines it takes; `None` when it takes none. Plugins are asked not to write the others.
    fn least(&self) -> Option<LogLevel>;
}

/// Takes no lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLog;

impl LogSink for NoLog {
    fn log(&self, _level: LogLevel, _provider: &str, _line: &str) {}

    fn least(&self) -> Option<LogLevel> {
        None
    }
}

/// What tells a plugin on the official libraries, called `name`, which log lines are wanted: it writes all of them otherwise,
/// some ten for each call, which takes longer than the call. Errors are always wanted, for the last words.
pub(super) fn wanted_of(name: &str, least: Option<LogLevel>) -> Option<([String; 2], &'static str)> {
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

/// The longest part of a line that is kept; the rest of a longer one is a line of its own.
pub(super) const LONGEST_LINE: usize = 64 << 10;
/// How many plain lines are kept as last words.
const KEPT_LINES: usize = 20;
/// How many lines of a crash are kept, from its first on.
const KEPT_OF_CRASH: usize = 40;
/// How much of a kept line.
const KEPT_OF_LINE: usize = 500;

/// Tells log lines from the words of a crash, and keeps the latter.
#[derive(Debug)]
pub(super) struct Words {
    least: LogLevel,
    plain: VecDeque<String>,
    crash: Vec<String>,
    last_error: Option<String>,
}

impl Words {
    /// Log lines below `least` are not looked at; without one, those below errors.
    pub fn new(least: Option<LogLevel>) -> Self {
        let least = least.unwrap_or(LogLevel::Error);
        Self { least, plain: VecDeque::new(), crash: Vec::new(), last_error: None }
    }

    /// Takes a line in; gives its level and how it reads in our log, unless nobody wants it.
    pub fn take(&mut self, line: &str) -> Option<(LogLevel, String)> {
        if self.crash.is_empty() && level_in_json(line).is_some_and(|level| level < self.least) {
            return None;
        }
        if self.crash.is_empty()
            && let Some((level, text)) = structured(line)
        {
            if level == LogLevel::Error {
                self.last_error = Some(kept(&text));
            }
            return Some((level, text));
        }
        let starts_crash = ["panic: ", "fatal error: ", "thread '"].iter().any(|start| line.starts_with(start));
        if (starts_crash || !self.crash.is_empty()) && self.crash.len() < KEPT_OF_CRASH {
            self.crash.push(kept(line));
        }
        if !self.crash.is_empty() {
            return Some((LogLevel::Error, line.to_owned()));
        }
        let (level, text) = prefixed(line);
        if !text.trim().is_empty() {
            if self.plain.len() == KEPT_LINES {
                self.plain.pop_front();
            }
            self.plain.push_back(kept(line));
        }
        Some((level, text.to_owned()))
    }

    /// What to show when the plugin is gone: its crash, or else its last lines, or else its last error.
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

/// The start of a line, without what could disturb a terminal.
fn kept(line: &str) -> String {
    line.chars().take(KEPT_OF_LINE).map(|c| if c.is_control() && c != '\t' { ' ' } else { c }).collect()
}

/// The level of a line that starts as those of Go's hclog do, without reading the rest.
fn level_in_json(line: &str) -> Option<LogLevel> {
    level_of(line.strip_prefix("{\"@level\":\"")?.split('"').next()?)
}

/// A log line in JSON, as Go's hclog writes them: its level, and message with names and values after it.
fn structured(line: &str) -> Option<(LogLevel, String)> {
    if !line.starts_with('{') {
        return None;
    }
    let Json::Object(entries) = serde_json::from_str(line).ok()? else { return None };
    let message = entries.get("@message")?.as_str()?;
    let level = entries.get("@level").and_then(Json::as_str).and_then(level_of).unwrap_or(LogLevel::Debug);
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

/// A plain line: its level in brackets may come first.
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
        Words::new(Some(LogLevel::Trace)).take(line).unwrap()
    }

    #[test]
    fn a_line_in_json_keeps_its_level_module_and_values() {
        let line = r#"{"@level":"warn","@message":"slow","@module":"sdk","@timestamp":"x","tries":3,"why":"a b"}"#;
        assert_eq!(taken(line), (LogLevel::Warn, r#"sdk: slow tries=3 why="a b""#.to_owned()));
    }

    #[test]
    fn a_plain_line_may_name_its_level() {
        assert_eq!(taken("[INFO] ready"), (LogLevel::Info, "ready".to_owned()));
        assert_eq!(taken("[0] ready"), (LogLevel::Debug, "[0] ready".to_owned()));
        assert_eq!(taken("{not json"), (LogLevel::Debug, "{not json".to_owned()));
    }

    #[test]
    fn lines_that_nobody_wants_are_neither_read_nor_written() {
        let mut words = Words::new(Some(LogLevel::Info));
        assert_eq!(words.take(r#"{"@level":"trace","@message":"call"}"#), None);
        assert!(words.take(r#"{"@level":"info","@message":"ready"}"#).is_some());
        let (names, level) = wanted_of("registry.terraform.io/hashicorp/google-beta", Some(LogLevel::Info)).unwrap();
        assert_eq!((names[1].as_str(), level), ("TF_LOG_PROVIDER_GOOGLE_BETA", "INFO"));
        assert_eq!(wanted_of("a/b", None).unwrap().1, "ERROR");
        assert_eq!(wanted_of("a/b", Some(LogLevel::Trace)), None);
    }

    #[test]
    fn the_first_words_of_a_crash_outlive_what_follows() {
        let mut words = Words::new(None);
        words.take("something before");
        words.take("panic: nil map");
        for n in 0..1000 {
            assert_eq!(words.take(&format!("goroutine {n}")).unwrap().0, LogLevel::Error);
        }
        let last = words.last();
        assert!(last.starts_with("panic: nil map\ngoroutine 0\n") && last.lines().count() == KEPT_OF_CRASH);
    }

    #[test]
    fn without_a_crash_the_last_plain_lines_count_and_else_the_last_error() {
        let mut words = Words::new(None);
        words.take(r#"{"@level":"error","@message":"cannot log in"}"#);
        assert_eq!(words.last(), "cannot log in");
        for n in 0..100 {
            words.take(&format!("line {n}"));
        }
        assert!(words.last().starts_with("line 80\n") && words.last().ends_with("line 99"));
    }
}
