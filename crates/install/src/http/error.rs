//! Errors of HTTP requests.

use std::time::Duration;

use groma_diagnostics::io_reason;
use reqwest::{StatusCode, Url};

use crate::archive::readable;

/// The reason why a request has no usable response. Messages name the URL without credentials.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The client cannot be created: the certificates of the system cannot be read, or a proxy setting is invalid.
    #[error("the HTTP client cannot be set up: {0}")]
    Setup(String),
    /// No connection was established, or it broke before the response.
    #[error("{method} {url:?}: {reason}")]
    Connection {
        /// `Get` or `Post`, as Go spells it.
        method: &'static str,
        /// The URL of the request, without credentials.
        url: String,
        /// The innermost cause of the error.
        reason: String,
    },
    /// The server did not respond in time. Terragrunt searches messages for the word "timeout".
    #[error("{method} {url:?}: tcp timeout, no answer within {} seconds", .limit.as_secs())]
    Timeout {
        /// `Get` or `Post`, as Go spells it.
        method: &'static str,
        /// The URL of the request, without credentials.
        url: String,
        /// The timeout that passed.
        limit: Duration,
    },
    /// The server answered every attempt with an error.
    #[error("the request failed after {attempts} attempts, please try again later: {status} for {url}")]
    ServerFailure {
        /// The URL of the request, without credentials.
        url: String,
        /// The status of the last attempt.
        status: StatusCode,
        /// The number of attempts.
        attempts: u32,
    },
    /// The response exceeds the limit.
    #[error("{url:?} is larger than {}, the limit for this download", readable(*limit))]
    TooLarge {
        /// The URL of the request, without credentials.
        url: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// The connection ended before the whole response arrived.
    #[error("the download of {url:?} ended after {received} bytes: {reason}")]
    Truncated {
        /// The URL of the request, without credentials.
        url: String,
        /// The number of bytes received.
        received: u64,
        /// The error of the connection.
        reason: String,
    },
    /// The download cannot be written to disk.
    #[error("the download of {url:?} cannot be stored: {}", io_reason(source))]
    Store {
        /// The URL of the request, without credentials.
        url: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

impl HttpError {
    pub(super) fn connection(method: &'static str, url: &Url, limit: Duration, error: &reqwest::Error) -> Self {
        let url = without_secrets(url);
        if error.is_timeout() {
            return Self::Timeout { method, url, limit };
        }
        Self::Connection { method, url, reason: innermost(error) }
    }
}

/// Shows a URL without user name, password and query, which may hold a signature.
pub(crate) fn without_secrets(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_password(None);
    // Some servers expect the token as the user name.
    let _ = url.set_username("");
    if url.query().is_some() {
        url.set_query(Some("..."));
    }
    url.to_string()
}

/// Returns the cause at the end of the chain. The others only say that something failed.
pub(super) fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    // Only errors with a code come from the operating system; others carry the text of a library.
    if let Some(broken) = last.downcast_ref::<std::io::Error>().filter(|error| error.raw_os_error().is_some()) {
        return of_the_network(broken);
    }
    // Libraries add hints for their developers, which are useless to users.
    let text = last.to_string();
    text.split(": https://docs.rs/").next().unwrap_or(&text).to_owned()
}

/// Formats an error of a connection as Go does: `tcp: connection reset by peer`.
///
/// Programs that retry after network failures (Terragrunt, Terratest) search for these words in lower case.
fn of_the_network(error: &std::io::Error) -> String {
    format!("tcp: {}", io_reason(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn connection_errors_contain_the_words_that_wrappers_match() {
        let reset = std::io::Error::from(nix::errno::Errno::ECONNRESET);
        assert_eq!(innermost(&reset), "tcp: connection reset by peer");
        assert_eq!(innermost(&std::io::Error::other("No way")), "No way");
    }

    #[test]
    fn addresses_in_texts_have_neither_passwords_nor_signatures() {
        let shown = |text: &str| without_secrets(&Url::parse(text).unwrap());
        assert_eq!(shown("https://me:s3cret@a.example.com/x?signature=s3cret"), "https://a.example.com/x?...");
        assert_eq!(shown("https://s3cret@a.example.com/x"), "https://a.example.com/x");
    }
}
