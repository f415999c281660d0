//! Log lines of our own plugins: JSON on the standard error, as hosts expect them.

use std::io::Write;

use serde_json::{Map, Value as Json};

use crate::transport::LogLevel;

/// The least level that the host wants, from `TF_LOG_PROVIDER` or `TF_LOG`; `None` for no log at all.
fn wanted() -> Option<LogLevel> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    match &*set("TF_LOG_PROVIDER").or_else(|| set("TF_LOG"))?.to_ascii_uppercase() {
        "OFF" => None,
        "ERROR" => Some(LogLevel::Error),
        "WARN" => Some(LogLevel::Warn),
        "INFO" => Some(LogLevel::Info),
        "DEBUG" => Some(LogLevel::Debug),
        _ => Some(LogLevel::Trace),
    }
}

/// Writes a line to the host's log, if the user wants lines of that level. Values that are secret must not be in it.
pub fn log(level: LogLevel, message: &str, details: &[(&str, &str)]) {
    static WANTED: std::sync::OnceLock<Option<LogLevel>> = std::sync::OnceLock::new();
    if WANTED.get_or_init(wanted).is_none_or(|least| level < least) {
        return;
    }
    // A log that cannot be written must not stop the provider.
    let _ = writeln!(std::io::stderr().lock(), "{}", line(level, message, details));
}

fn line(level: LogLevel, message: &str, details: &[(&str, &str)]) -> Json {
    let word = match level {
        LogLevel::Trace => "trace",
        LogLevel::Debug => "debug",
        LogLevel::Info => "info",
        LogLevel::Warn => "warn",
        LogLevel::Error => "error",
    };
    let own = [("@level", word), ("@message", message), ("@module", "provider")];
    let entries = own.iter().chain(details).map(|(name, value)| ((*name).to_owned(), Json::from(*value)));
    Json::Object(entries.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_json_of_the_host_with_the_details_after_it() {
        assert_eq!(
            line(LogLevel::Warn, "slow \"disk\"", &[("tries", "3")]).to_string(),
            r#"{"@level":"warn","@message":"slow \"disk\"","@module":"provider","tries":"3"}"#
        );
    }
}
