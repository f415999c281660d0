//! HTTP connections: proxies, certificate authorities, timeouts.

mod connection;
mod error;

pub use connection::{ConnectionSettings, Resolver, TlsVerification};
pub use error::HttpError;
pub use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
pub use reqwest::{Method, StatusCode, Url};

use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use error::{innermost, without_secrets};
use futures_util::future::BoxFuture;
use futures_util::stream;
use reqwest::header::{CONTENT_LENGTH, USER_AGENT};
use reqwest::{Body, Client};

/// Metadata services are a hop away or do not exist, and most machines are not in a cloud.
const METADATA_CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// The number of clients that are kept for further use.
const KEPT_CLIENTS: usize = 16;

/// An HTTP client that sends each request once. Clones share its connections.
///
/// Metadata services at link-local addresses are reached without a proxy and with a short timeout.
#[derive(Clone, Debug)]
pub struct Transport {
    client: Client,
    metadata: Client,
    user_agent: HeaderValue,
    read_timeout: Duration,
}

/// A request. Not `Debug`, because headers and body may contain secrets.
#[derive(Clone)]
pub struct HttpRequest {
    /// The HTTP method, such as `GET`.
    pub method: Method,
    /// The absolute URL, with its query.
    pub url: Url,
    /// The headers; the transport adds `User-Agent` if it is missing.
    pub headers: HeaderMap,
    /// The body; empty for none.
    pub body: Bytes,
    /// The bytes around the body; none for an ordinary request.
    pub framing: Option<Framing>,
    /// The maximum size of the response body in bytes.
    pub limit: u64,
}

/// The bytes before and after the body of a multipart request. A large body is not copied for them.
#[derive(Clone)]
pub struct Framing {
    /// The beginning of the request body.
    pub before: Bytes,
    /// The end of the request body.
    pub after: Bytes,
}

/// A response with its whole body. `Debug` prints the status only, because the rest may contain secrets.
#[derive(Clone)]
pub struct HttpResponse {
    /// The HTTP status, which may be an error.
    pub status: StatusCode,
    /// The headers of the response.
    pub headers: HeaderMap,
    /// The whole body, at most as large as the request's limit.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// The default limit of responses: 64 MiB.
    pub const LIMIT: u64 = 64 << 20;

    /// Creates a request without headers and body.
    pub fn new(method: Method, url: Url) -> Self {
        Self { method, url, headers: HeaderMap::new(), body: Bytes::new(), framing: None, limit: Self::LIMIT }
    }
}

impl HttpResponse {
    /// Returns the value of a header, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

impl fmt::Debug for HttpResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HttpResponse({}, {} bytes)", self.status, self.body.len())
    }
}

impl Transport {
    /// Returns a client. Clients with equal settings share their connections, because each one reads the certificates
    /// of the system, which takes a while.
    ///
    /// # Errors
    /// Fails if a setting is invalid, or if the certificates of the system cannot be used.
    pub fn new(settings: &ConnectionSettings, user_agent: &str) -> Result<Self, HttpError> {
        static KEPT: Mutex<Vec<(ConnectionSettings, Transport)>> = Mutex::new(Vec::new());
        let user_agent = HeaderValue::from_str(user_agent)
            .map_err(|_| HttpError::Setup("the user agent contains invalid characters".to_owned()))?;
        // Locked while a client is built, so that two threads with equal settings build one.
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().find(|(known, _)| known == settings).map(|(_, transport)| transport.clone());
        let transport = match known {
            Some(transport) => transport,
            None => {
                let transport = Self::build(settings, user_agent.clone())?;
                if kept.len() >= KEPT_CLIENTS {
                    // The oldest one goes. Its users keep their clone, so this only limits what is held for later.
                    kept.remove(0);
                }
                kept.push((settings.clone(), transport.clone()));
                transport
            }
        };
        // The user agent is not part of the key: it is a header, and connections do not depend on it.
        Ok(Self { user_agent, ..transport })
    }

    fn build(settings: &ConnectionSettings, user_agent: HeaderValue) -> Result<Self, HttpError> {
        let unusable = |error: reqwest::Error| {
            HttpError::Setup(format!("the HTTP client cannot be set up: {}", innermost(&error)))
        };
        let builder =
            // Redirects are not followed, because a signature is valid for one host only.
            || Client::builder().dns_resolver(Arc::new(Resolver::new())).redirect(reqwest::redirect::Policy::none());
        let client = settings.applied_to(builder())?.build().map_err(unusable)?;
        // A proxy would reach the metadata service of its own machine, which has other credentials.
        let direct = ConnectionSettings {
            http_proxy: None,
            https_proxy: None,
            connect_timeout: METADATA_CONNECT_TIMEOUT,
            ..settings.clone()
        };
        let metadata = direct.applied_to(builder())?.build().map_err(unusable)?;
        Ok(Self { client, metadata, user_agent, read_timeout: settings.read_timeout })
    }

    /// Sends a request once and reads the whole response. Must run on a tokio runtime: see [`crate::background`].
    ///
    /// # Errors
    /// Fails if no complete response arrives. A response with an error status is not an error here.
    pub fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, HttpError>> {
        Box::pin(async move {
            let HttpRequest { method, url, mut headers, body, framing, limit } = request;
            let body = framed(body, framing, &mut headers);
            headers.entry(USER_AGENT).or_insert_with(|| self.user_agent.clone());
            let client = if is_link_local(&url) { &self.metadata } else { &self.client };
            let failed = |error: &reqwest::Error| HttpError::of_request(&url, self.read_timeout, error);
            let sent = client.request(method, url.clone()).headers(headers).body(body).send().await;
            let mut response = sent.map_err(|error| failed(&error))?;
            let too_large = || HttpError::TooLarge { url: without_secrets(&url), limit };
            let mut body = Vec::new();
            // A large body is not copied while it grows. If the announced length is absurd, it grows all the same.
            let announced = response.content_length().unwrap_or_default().min(limit);
            let _ = body.try_reserve_exact(usize::try_from(announced).unwrap_or_default());
            // Read in chunks, because `content-length` may be absent or wrong and the limit must hold anyway.
            while let Some(bytes) = response.chunk().await.map_err(|error| failed(&error))? {
                if body.len() as u64 + bytes.len() as u64 > limit {
                    return Err(too_large());
                }
                body.extend_from_slice(&bytes);
            }
            Ok(HttpResponse { status: response.status(), headers: response.headers().clone(), body })
        })
    }
}

/// Returns the body as it is sent, and announces its length.
fn framed(body: Bytes, framing: Option<Framing>, headers: &mut HeaderMap) -> Body {
    let Some(Framing { before, after }) = framing else { return body.into() };
    let parts = [before, body, after];
    // The length of a stream is unknown, and services refuse uploads without it.
    headers.insert(CONTENT_LENGTH, parts.iter().map(Bytes::len).sum::<usize>().into());
    Body::wrap_stream(stream::iter(parts.map(Ok::<_, Infallible>)))
}

/// Whether a URL is that of a metadata service of a machine or container.
fn is_link_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "metadata.google.internal"
        || match host.parse::<std::net::IpAddr>() {
            Ok(std::net::IpAddr::V4(address)) => address.is_link_local(),
            // AWS serves its metadata at fd00:ec2::254 and fd00:ec2::23, which are unique local addresses.
            Ok(std::net::IpAddr::V6(address)) => address.segments().starts_with(&[0xfd00, 0xec2]),
            Err(_) => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_services_are_recognized() {
        let is = |url: &str| is_link_local(&Url::parse(url).unwrap());
        assert!(is("http://169.254.169.254/latest") && is("http://[fd00:ec2::254]/x"));
        assert!(is("http://metadata.google.internal/x") && is("http://169.254.170.2/v2"));
        assert!(!is("https://s3.us-east-1.amazonaws.com/") && !is("http://127.0.0.1/"));
    }
}
