//! Log lines of our plugins: JSON on standard error, in the format that hosts expect.

use std::io::Write;

use serde_json::{Map, Value as Json};

use crate::transport::LogLevel;

/// Returns the log level that the host requests by `TF_LOG_PROVIDER` or `TF_LOG`; `None` disables logging.
fn requested_level() -> Option<LogLevel> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    match &*set("TF_LOG_PROVIDER").or_else(|| set("TF_LOG"))?.to_ascii_uppercase() {
        "OFF" => None,
        "ERROR" => Some(LogLevel::Error),
        "WARN" => Some(LogLevel::Warn),
        "INFO" => Some(LogLevel::Info),
        "DEBUG" => Some(LogLevel::Debug),
        // As in Terraform, any other value enables everything.
        _ => Some(LogLevel::Trace),
    }
}

/// Writes a line to the host's log if its level is enabled. The caller must not pass sensitive values.
pub fn log(level: LogLevel, message: &str, details: &[(&str, &str)]) {
    static MIN_LEVEL: std::sync::OnceLock<Option<LogLevel>> = std::sync::OnceLock::new();
    if MIN_LEVEL.get_or_init(requested_level).is_none_or(|least| level < least) {
        return;
    }
    // A failed log write must not stop the provider.
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
    fn log_line_is_hclog_json_with_details() {
        assert_eq!(
            line(LogLevel::Warn, "slow \"disk\"", &[("tries", "3")]).to_string(),
            r#"{"@level":"warn","@message":"slow \"disk\"","@module":"provider","tries":"3"}"#
        );
    }
}
