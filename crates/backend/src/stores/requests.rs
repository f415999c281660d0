//! HTTP requests of stores: TLS settings, retries, errors without secrets.

use std::time::Duration;

use md5::{Digest, Md5};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Certificate, Client, ClientBuilder, Identity, Method, RequestBuilder, StatusCode, Url};

use crate::error::StoreError;
use crate::host::Host;

/// The longest time without any data from the server.
const SILENCE: Duration = Duration::from_secs(60);

/// The longest pause that a server may ask for.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(300);

/// TLS settings of a client.
#[derive(Clone, Debug, Default)]
pub(super) struct TlsSettings {
    /// Certificate authorities that replace those of the system, as PEM text.
    pub authorities: Option<Vec<u8>>,
    /// The client's certificate and private key, as PEM text.
    pub identity: Option<Vec<u8>>,
    /// Whether the server's certificate is accepted unchecked.
    pub verification: Verification,
}

/// Whether the server's certificate is verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Verification {
    #[default]
    Required,
    Skipped,
}

/// The repetition of failed requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct RetryPolicy {
    /// The number of further attempts.
    pub attempts: u64,
    /// The first pause; each further one is twice as long.
    pub shortest: Duration,
    pub longest: Duration,
}

/// A response: by default with its whole body, otherwise with a part or a digest of it.
#[derive(Debug)]
pub(super) struct Response<B = Vec<u8>> {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: B,
}

/// A receiver of the pieces in which the body of a response arrives.
pub(super) trait ReceivedBody: Default {
    /// Prepares for a body of this length, which the server may have announced wrongly.
    fn announce(&mut self, length: usize);

    fn receive(&mut self, bytes: &[u8]);
}

impl ReceivedBody for Vec<u8> {
    fn announce(&mut self, length: usize) {
        // A large body is not copied while it grows. If the announced length is absurd, it grows all the same.
        let _ = self.try_reserve_exact(length);
    }

    fn receive(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// The MD5 digest of a body, and its beginning for messages.
#[derive(Default)]
pub(super) struct DigestedBody {
    pub digest: Md5,
    pub beginning: Vec<u8>,
}

impl ReceivedBody for DigestedBody {
    fn announce(&mut self, _: usize) {}

    fn receive(&mut self, bytes: &[u8]) {
        const KEPT: usize = 4096;
        self.digest.update(bytes);
        let missing = KEPT.saturating_sub(self.beginning.len());
        self.beginning.extend(bytes.iter().take(missing));
    }
}

impl<B> Response<B> {
    /// Returns the value of a header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

impl Response {
    /// Returns the beginning of the body for messages: servers put the reason there.
    pub fn reason(&self) -> String {
        const LENGTH: usize = 200;
        let text = String::from_utf8_lossy(&self.body);
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let short: String = line.chars().take(LENGTH).collect();
        if short.is_empty() {
            format!("HTTP status {}", self.status)
        } else {
            format!("HTTP status {}: {short}", self.status)
        }
    }
}

/// Creates a client.
///
/// # Errors
/// Certificates or keys are invalid; `argument` of the error says which.
pub(super) fn client(host: &Host, tls: &TlsSettings, arguments: TlsArguments) -> Result<Client, StoreError> {
    build(builder(host, tls, arguments)?, arguments)
}

/// Prepares a client that needs further settings before [`build`].
///
/// # Errors
/// As for [`client`].
pub(super) fn builder(host: &Host, tls: &TlsSettings, arguments: TlsArguments) -> Result<ClientBuilder, StoreError> {
    let mut builder = ClientBuilder::new().connect_timeout(SILENCE).read_timeout(SILENCE);
    if !host.user_agent.is_empty() {
        builder = builder.user_agent(&host.user_agent);
    }
    if let Some(pem) = &tls.authorities {
        let certificates =
            Certificate::from_pem_bundle(pem).map_err(|problem| invalid(arguments.authorities, &problem))?;
        builder = builder.tls_certs_only(certificates);
    }
    if let Some(pem) = &tls.identity {
        builder = builder.identity(Identity::from_pem(pem).map_err(|problem| invalid(arguments.identity, &problem))?);
    }
    if tls.verification == Verification::Skipped {
        builder = builder.tls_danger_accept_invalid_certs(true);
    }
    Ok(builder)
}

/// Creates the prepared client.
///
/// # Errors
/// As for [`client`].
pub(super) fn build(builder: ClientBuilder, arguments: TlsArguments) -> Result<Client, StoreError> {
    builder.build().map_err(|problem| invalid(arguments.authorities, &problem))
}

fn invalid(argument: &str, problem: &reqwest::Error) -> StoreError {
    StoreError::InvalidArgument { argument: argument.to_owned(), reason: innermost(problem) }
}

/// The names of the arguments with TLS settings, for errors.
#[derive(Clone, Copy, Debug)]
pub(super) struct TlsArguments {
    pub authorities: &'static str,
    pub identity: &'static str,
}

/// Sends the request that `build` creates until a response arrives that a retry would not change.
///
/// # Errors
/// No response arrives. The response of the last attempt is returned whatever its status.
pub(super) async fn send(
    client: &Client,
    method: &Method,
    url: &Url,
    retries: RetryPolicy,
    build: impl Fn(RequestBuilder) -> RequestBuilder,
) -> Result<Response, StoreError> {
    receive(client, method, url, retries, build).await
}

/// Sends a request as [`send`] does, and keeps a part of the body.
///
/// # Errors
/// As for [`send`].
pub(super) async fn receive<B: ReceivedBody>(
    client: &Client,
    method: &Method,
    url: &Url,
    retries: RetryPolicy,
    build: impl Fn(RequestBuilder) -> RequestBuilder,
) -> Result<Response<B>, StoreError> {
    let mut attempt = 0;
    loop {
        let failed = |failure: Failure| StoreError::Network { service: shown(url), reason: failure.reason };
        let result = once(client, method, url, &build).await;
        let is_last = attempt >= retries.attempts;
        let asked = match result {
            Ok(response) if is_last || !may_pass(response.status) => return Ok(response),
            Ok(response) => retry_after(&response),
            Err(failure) if is_last || failure.is_permanent => return Err(failed(failure)),
            Err(_) => None,
        };
        let doubled = retries.shortest.saturating_mul(1 << attempt.min(16));
        tokio::time::sleep(asked.unwrap_or(doubled.min(retries.longest))).await;
        attempt += 1;
    }
}

/// An attempt without a response.
struct Failure {
    reason: String,
    /// Whether another attempt would fail likewise: certificates do not become valid.
    is_permanent: bool,
}

async fn once<B: ReceivedBody>(
    client: &Client,
    method: &Method,
    url: &Url,
    build: &impl Fn(RequestBuilder) -> RequestBuilder,
) -> Result<Response<B>, Failure> {
    let failed =
        |problem: reqwest::Error| Failure { is_permanent: is_permanent(&problem), reason: innermost(&problem) };
    let mut response = build(client.request(method.clone(), url.clone())).send().await.map_err(failed)?;
    let (status, headers) = (response.status(), response.headers().clone());
    let mut body = B::default();
    body.announce(usize::try_from(response.content_length().unwrap_or_default()).unwrap_or_default());
    while let Some(bytes) = response.chunk().await.map_err(failed)? {
        body.receive(&bytes);
    }
    Ok(Response { status, headers, body })
}

fn may_pass(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED
}

/// Returns the pause that a busy server asks for: in seconds, as Terraform and OpenTofu read it.
fn retry_after<B>(response: &Response<B>) -> Option<Duration> {
    if !matches!(response.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        return None;
    }
    let seconds = response.headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_RETRY_AFTER))
}

fn is_permanent(problem: &reqwest::Error) -> bool {
    // Building and redirecting do not depend on the network, and neither does the verification of certificates.
    problem.is_builder() || problem.is_redirect() || is_certificate_problem(problem)
}

fn is_certificate_problem(problem: &reqwest::Error) -> bool {
    let mut source: Option<&(dyn std::error::Error + 'static)> = std::error::Error::source(problem);
    while let Some(error) = source {
        let found = match error.downcast_ref::<std::io::Error>() {
            Some(io) => io.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()),
            None => error.downcast_ref::<rustls::Error>(),
        };
        if let Some(found) = found {
            return matches!(found, rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented);
        }
        source = error.source();
    }
    false
}

/// Returns the cause at the end of the chain, which is the one that says something, without the URL.
fn innermost(problem: &reqwest::Error) -> String {
    let mut last: &dyn std::error::Error = problem;
    while let Some(source) = last.source() {
        last = source;
    }
    if problem.is_timeout() {
        return "the server did not answer in time".to_owned();
    }
    match last.downcast_ref::<std::io::Error>() {
        Some(io) => groma_diagnostics::io_reason(io),
        // The error itself would show the URL, which may hold credentials.
        None if last.source().is_none() && std::error::Error::source(problem).is_none() => {
            "the request failed".to_owned()
        }
        None => last.to_string(),
    }
}

/// Returns a URL for messages: without user, password and query, which may be secrets.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail for URLs that cannot have credentials, which have none to remove.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_in_messages_have_no_secrets() {
        let url = Url::parse("https://user:secret@host/state?token=secret").unwrap();
        assert_eq!(shown(&url), "https://host/state");
    }
}
