//! The HTTP client, with retries, size limits and downloads.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use groma_cloud::http::Resolver;
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Method, StatusCode, Url};

use super::error::{HttpError, innermost, without_secrets};
use super::response::{Response, ResponseHead, head, unpacked};
use crate::credentials::Token;

/// The deadline for a whole document, as a multiple of the timeout. Downloads have none, as long as data arrives.
const LONGEST_DOCUMENT: u32 = 30;

/// The settings of a client.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The name and version of this program for the `User-Agent` header.
    pub user_agent: String,
    /// The number of retries after a failed request: `TF_REGISTRY_DISCOVERY_RETRY`.
    pub retries: u32,
    /// The maximum time without any data from the server: `TF_REGISTRY_CLIENT_TIMEOUT`.
    pub timeout: Duration,
    /// The delay before the first retry; later ones are longer.
    pub first_pause: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            user_agent: concat!("Groma/", env!("CARGO_PKG_VERSION")).to_owned(),
            retries: 1,
            timeout: Duration::from_secs(10),
            first_pause: Duration::from_secs(1),
        }
    }
}

/// An HTTP client. Clones share its connections.
#[derive(Clone, Debug)]
pub struct Http {
    client: Client,
    options: HttpOptions,
}

impl Http {
    /// Creates a client. Proxies (`HTTPS_PROXY`, `NO_PROXY`, …) and certificate authorities (`SSL_CERT_FILE`, …)
    /// default to those of the process environment.
    ///
    /// # Errors
    /// Fails if the certificates of the system cannot be used.
    pub fn new(options: HttpOptions) -> Result<Self, HttpError> {
        let builder = Client::builder()
            .user_agent(&options.user_agent)
            .dns_resolver(Arc::new(Resolver::new()))
            .connect_timeout(options.timeout)
            .read_timeout(options.timeout)
            .redirect(reqwest::redirect::Policy::limited(10));
        let client = builder.build().map_err(|error| HttpError::Setup(innermost(&error)))?;
        Ok(Self { client, options })
    }

    /// The number of retries.
    pub fn retries(&self) -> u32 {
        self.options.retries
    }

    /// Requests `url` and returns a response of up to `limit` bytes. A status that a retry would not change is a
    /// response, not an error.
    ///
    /// # Errors
    /// Fails if no response arrives after all retries, or if it is too large.
    pub async fn get(&self, url: &Url, token: Option<&Token>, limit: u64) -> Result<Response, HttpError> {
        self.get_with(url, token, &[], limit).await
    }

    /// Requests `url` with further headers.
    ///
    /// # Errors
    /// Fails like [`Self::get`], and for an invalid header.
    pub async fn get_with(
        &self,
        url: &Url,
        token: Option<&Token>,
        headers: &[(&str, &str)],
        limit: u64,
    ) -> Result<Response, HttpError> {
        let headers = header_map(token, headers)?;
        self.repeat(url, || self.once(Method::GET, url, headers.clone(), None, limit)).await
    }

    /// Posts a form to `url`, without retries.
    ///
    /// # Errors
    /// Fails if no response arrives or it is too large.
    pub async fn post_form(&self, url: &Url, fields: &[(&str, &str)], limit: u64) -> Result<Response, HttpError> {
        let mut form = url.clone();
        // The query of a URL has the encoding of forms, so the URL type serves as the encoder.
        form.query_pairs_mut().clear().extend_pairs(fields);
        let body = form.query().unwrap_or_default().to_owned();
        let headers =
            header_map(None, &[("content-type", "application/x-www-form-urlencoded"), ("accept", "application/json")])?;
        // No retry: an authorization code can be used only once.
        self.once(Method::POST, url, headers, Some(body.into_bytes()), limit).await
    }

    /// Sends a request with a body and headers, without retries.
    ///
    /// # Errors
    /// Fails if no response arrives, if it is too large, or for an invalid header.
    pub async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: &[(&str, &str)],
        body: Vec<u8>,
        limit: u64,
    ) -> Result<Response, HttpError> {
        self.once(method, url, header_map(None, headers)?, Some(body), limit).await
    }

    /// Downloads `url` to `target`, up to `limit` bytes. The returned response has no body. Writes nothing if its
    /// status is an error.
    ///
    /// # Errors
    /// Fails if no response arrives after all retries, if it is too large or incomplete, or if it cannot be written.
    /// Then `target` may hold a part of it.
    pub async fn download(
        &self,
        url: &Url,
        token: Option<&Token>,
        headers: &[(&str, &str)],
        target: &mut (dyn Write + Send),
        limit: u64,
    ) -> Result<Response, HttpError> {
        let headers = header_map(token, headers)?;
        // Only the beginning is repeated here: after a broken transfer the target holds a part already.
        let begin = || self.begin(Method::GET, url, headers.clone(), None);
        let answer = self.repeat(url, begin).await?;
        let (mut response, stream) = head(answer);
        if response.status.is_success() {
            self.pour(stream, url, limit, &mut |bytes| target.write_all(bytes)).await?;
        }
        response.body = Vec::new();
        Ok(response)
    }

    /// Repeats a request until a response arrives or the retries are used up.
    async fn repeat<T, F>(&self, url: &Url, mut request: impl FnMut() -> F) -> Result<T, HttpError>
    where
        T: ResponseHead,
        F: Future<Output = Result<T, HttpError>>,
    {
        let mut attempt = 0;
        loop {
            let answer = request().await;
            let wait = match &answer {
                Ok(answer) if may_pass(answer.status()) => {
                    self.wait(attempt, answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()))
                }
                Err(HttpError::Connection { .. } | HttpError::Timeout { .. } | HttpError::Truncated { .. }) => {
                    self.wait(attempt, None)
                }
                // Successes, and failures that another attempt would not change.
                _ => return answer,
            };
            match (wait, answer) {
                (Some(wait), _) => tokio::time::sleep(wait).await,
                (None, Ok(answer)) => return Err(server_failure(url, answer.status(), attempt)),
                (None, Err(error)) => return Err(error),
            }
            attempt += 1;
        }
    }

    /// Returns the delay before the next attempt, if there is one.
    fn wait(&self, attempt: u32, retry_after: Option<&str>) -> Option<Duration> {
        (attempt < self.options.retries).then(|| pause(attempt, self.options.first_pause, retry_after))
    }

    async fn once(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Option<Vec<u8>>,
        limit: u64,
    ) -> Result<Response, HttpError> {
        let answer = self.begin(method, url, headers, body).await?;
        let (mut response, stream) = head(answer);
        let mut whole = Vec::new();
        let mut keep = |bytes: &[u8]| {
            whole.extend_from_slice(bytes);
            Ok(())
        };
        // A server that sends a byte from time to time could otherwise delay a run for days.
        let longest = self.options.timeout.saturating_mul(LONGEST_DOCUMENT);
        let pouring = self.pour(stream, url, limit, &mut keep);
        match tokio::time::timeout(longest, pouring).await {
            Ok(poured) => poured?,
            Err(_) => {
                let reason = format!("the transfer did not finish within {} seconds", longest.as_secs());
                return Err(HttpError::Truncated { url: without_secrets(url), received: whole.len() as u64, reason });
            }
        }
        response.body = unpacked(whole, response.header(CONTENT_ENCODING.as_str()), url, limit)?;
        Ok(response)
    }

    async fn begin(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Option<Vec<u8>>,
    ) -> Result<reqwest::Response, HttpError> {
        let name = match method {
            Method::POST => "Post",
            Method::PUT => "Put",
            _ => "Get",
        };
        let mut request = self.client.request(method, url.clone()).headers(headers);
        if let Some(body) = body {
            request = request.body(body);
        }
        request.send().await.map_err(|error| HttpError::connection(name, url, self.options.timeout, &error))
    }

    async fn pour(
        &self,
        mut answer: reqwest::Response,
        url: &Url,
        limit: u64,
        sink: &mut (dyn FnMut(&[u8]) -> std::io::Result<()> + Send),
    ) -> Result<(), HttpError> {
        let too_large = || HttpError::TooLarge { url: without_secrets(url), limit };
        // Refused before the first byte is transferred.
        if answer.content_length().is_some_and(|length| length > limit) {
            return Err(too_large());
        }
        let mut received = 0_u64;
        loop {
            match answer.chunk().await {
                Ok(Some(bytes)) => {
                    // Counted as well, because the announced length may be absent or wrong.
                    received += bytes.len() as u64;
                    if received > limit {
                        return Err(too_large());
                    }
                    sink(&bytes).map_err(|source| HttpError::Store { url: without_secrets(url), source })?;
                }
                Ok(None) => return Ok(()),
                Err(error) => {
                    return Err(HttpError::Truncated {
                        url: without_secrets(url),
                        received,
                        reason: if error.is_timeout() {
                            "the server is too slow".to_owned()
                        } else {
                            innermost(&error)
                        },
                    });
                }
            }
        }
    }
}

fn server_failure(url: &Url, status: StatusCode, attempt: u32) -> HttpError {
    HttpError::ServerFailure { url: without_secrets(url), status, attempts: attempt + 1 }
}

fn header_map(token: Option<&Token>, more: &[(&str, &str)]) -> Result<HeaderMap, HttpError> {
    let mut headers = HeaderMap::new();
    for (name, value) in more {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| HttpError::Setup(error.to_string()))?;
        let value = HeaderValue::from_str(value)
            .map_err(|_| HttpError::Setup(format!("the header {name} contains invalid characters")))?;
        headers.insert(name, value);
    }
    if let Some(token) = token {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", token.secret()))
            .map_err(|_| HttpError::Setup("a token contains invalid characters".to_owned()))?;
        // Keeps the token out of debug output.
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

/// The maximum delay between two attempts.
const LONGEST: Duration = Duration::from_secs(30);

/// Whether a retry may help: the server is overloaded or broken. Status 501 is permanent.
pub(super) fn may_pass(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || (status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED)
}

/// Returns the delay after attempt number `attempt` (from 0): doubled each time, or what the server requests.
pub(super) fn pause(attempt: u32, first: Duration, retry_after: Option<&str>) -> Duration {
    if let Some(seconds) = retry_after.and_then(|text| text.trim().parse::<u64>().ok()) {
        return Duration::from_secs(seconds).min(LONGEST);
    }
    first.saturating_mul(1_u32.checked_shl(attempt).unwrap_or(u32::MAX)).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpListener;
    use std::time::Instant;

    /// A server that sends one byte after the other, without an end.
    fn dripping() -> Url {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/versions", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                std::thread::spawn(move || {
                    let _ = stream.read(&mut [0; 4096]);
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
                    while stream.write_all(b" ").is_ok() {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                });
            }
        });
        url.parse().unwrap()
    }

    #[test]
    fn endless_document_times_out() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let timeout = Duration::from_millis(50);
        let http = Http::new(HttpOptions { timeout, retries: 0, ..HttpOptions::default() }).unwrap();
        let begun = Instant::now();
        let problem = runtime.block_on(http.get(&dripping(), None, 1 << 20)).unwrap_err().to_string();
        assert!(problem.contains("ended after") && problem.contains("did not finish within"), "{problem}");
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn pauses_double_up_to_half_a_minute_and_follow_the_server() {
        let second = Duration::from_secs(1);
        assert_eq!(pause(0, second, None), second);
        assert_eq!(pause(3, second, None), Duration::from_secs(8));
        assert_eq!(pause(99, second, None), LONGEST);
        assert_eq!(pause(0, second, Some("7")), Duration::from_secs(7));
        assert_eq!(pause(0, second, Some("9999")), LONGEST);
    }

    #[test]
    fn only_transient_failures_are_retried() {
        assert!(may_pass(StatusCode::SERVICE_UNAVAILABLE) && may_pass(StatusCode::TOO_MANY_REQUESTS));
        assert!(!may_pass(StatusCode::NOT_FOUND) && !may_pass(StatusCode::NOT_IMPLEMENTED));
    }
}
