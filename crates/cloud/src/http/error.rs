//! Errors of HTTP connections. No message contains a credential or a signature.

use std::time::Duration;

use groma_diagnostics::io_reason;
use reqwest::Url;

/// The reason why an HTTP request has no response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// A setting of the connection is invalid: a proxy, a certificate bundle, a header.
    #[error("{0}")]
    Setup(String),
    /// The connection failed or ended too early.
    #[error("no response from {url}: {reason}")]
    Connection {
        /// The URL without secrets.
        url: String,
        /// The innermost cause of the error.
        reason: String,
    },
    /// The server's certificate is not trusted, or the TLS handshake failed.
    #[error(
        "no secure connection to {url}: {reason}; if a proxy or a private service uses a certificate authority of its \
         own, name its bundle in AWS_CA_BUNDLE or SSL_CERT_FILE"
    )]
    Tls {
        /// The URL without secrets.
        url: String,
        /// The innermost cause of the error.
        reason: String,
    },
    /// The server did not answer in time.
    #[error("no response from {url} within {} seconds (timeout)", limit.as_secs())]
    Timeout {
        /// The URL without secrets.
        url: String,
        /// The time that passed without data.
        limit: Duration,
    },
    /// The response is larger than the caller allows.
    #[error("the response of {url} is larger than {limit} bytes")]
    TooLarge {
        /// The URL without secrets.
        url: String,
        /// The limit in bytes.
        limit: u64,
    },
}

impl HttpError {
    /// Classifies an error of the HTTP library.
    pub(super) fn of_request(url: &Url, limit: Duration, error: &reqwest::Error) -> Self {
        let url = without_secrets(url);
        if error.is_timeout() {
            // Checked first: a timeout during the TLS handshake is still a timeout, and worth another attempt.
            return Self::Timeout { url, limit };
        }
        let reason = innermost(error);
        if is_tls(error) { Self::Tls { url, reason } } else { Self::Connection { url, reason } }
    }

    /// Whether another attempt may succeed.
    pub fn is_transient(&self) -> bool {
        // Certificates and settings do not change between attempts.
        matches!(self, Self::Connection { .. } | Self::Timeout { .. })
    }
}

/// Whether the chain of causes contains an error of TLS.
fn is_tls(error: &reqwest::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<rustls::Error>() {
            return true;
        }
        // hyper wraps the error of rustls in an io::Error, whose `source` skips the wrapped error itself.
        if let Some(inner) = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref)
            && inner.is::<rustls::Error>()
        {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Shows a URL without user name, password and query, which may hold a signature.
pub(crate) fn without_secrets(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_password(None);
    let _ = url.set_username("");
    url.set_query(None);
    url.to_string()
}

/// Returns the cause at the end of the chain. The others only say that something failed.
pub(crate) fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    // Errors of the operating system are worded as everywhere else in the program.
    if let Some(broken) = last.downcast_ref::<std::io::Error>().filter(|error| error.raw_os_error().is_some()) {
        return io_reason(broken).to_string();
    }
    last.to_string()
}
