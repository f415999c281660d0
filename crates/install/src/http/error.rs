//! Errors of HTTP requests.

use std::time::Duration;

use groma_diagnostics::io_reason;
use reqwest::{StatusCode, Url};

use crate::archive::readable;

/// The error of a request. The messages name the request and contain no credentials.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The client cannot be made: the certificates of the system cannot be read, or a proxy setting is wrong.
    #[error("the HTTP client cannot be set up: {0}")]
    Setup(String),
    /// No connection, or it broke.
    #[error("{method} {url:?}: {reason}")]
    Connection {
        /// `Get` or `Post`.
        method: &'static str,
        /// The requested URL.
        url: String,
        /// The innermost cause of the error.
        reason: String,
    },
    /// The server did not answer in time. Terragrunt looks for the word "timeout".
    #[error("{method} {url:?}: tcp timeout, no answer within {} seconds", .limit.as_secs())]
    Timeout {
        /// `Get` or `Post`.
        method: &'static str,
        /// The requested URL.
        url: String,
        /// The time limit that was exceeded.
        limit: Duration,
    },
    /// The server kept failing.
    #[error("the request failed after {attempts} attempts, please try again later: {status} for {url}")]
    ServerFailure {
        /// The requested URL.
        url: String,
        /// The status of the last response.
        status: StatusCode,
        /// Number of attempts.
        attempts: u32,
    },
    /// The answer is larger than anything expected here.
    #[error("{url:?} is larger than {}, the limit for this download", readable(*limit))]
    TooLarge {
        /// The requested URL.
        url: String,
        /// The most that is accepted.
        limit: u64,
    },
    /// The connection ended before the announced length.
    #[error("the download of {url:?} broke off after {received} bytes: {reason}")]
    Truncated {
        /// The requested URL.
        url: String,
        /// Number of received bytes.
        received: u64,
        /// The error of the connection.
        reason: String,
    },
    /// The download cannot be written.
    #[error("the download of {url:?} cannot be stored: {}", io_reason(source))]
    Store {
        /// The requested URL.
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

/// The address for texts: who asks with which password, and the query, which may hold a signature, are left out.
pub(crate) fn without_secrets(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_password(None);
    // Tokens may be in the user name as well.
    let _ = url.set_username("");
    if url.query().is_some() {
        url.set_query(Some("..."));
    }
    url.to_string()
}

/// The cause at the end of the chain says what happened; those before it say only that something did.
pub(super) fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    if let Some(broken) = last.downcast_ref::<std::io::Error>().filter(|error| error.raw_os_error().is_some()) {
        return of_the_network(broken);
    }
    // A library adds where its developers find more; that is no use to people.
    let text = last.to_string();
    text.split(": https://docs.rs/").next().unwrap_or(&text).to_owned()
}

/// Returns the operating system's error of a connection in the usual form: `tcp: connection reset by peer`.
///
/// Tools that retry after network failures (Terragrunt, Terratest) search for these words, in lower case.
fn of_the_network(error: &std::io::Error) -> String {
    format!("tcp: {}", io_reason(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_the_network_says_is_told_in_the_words_that_others_look_for() {
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
