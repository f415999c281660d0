//! Requests to HTTP APIs that speak JSON and take bearer tokens.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::Value as Json;

use crate::environment::Environment;
use crate::error::TokenError;
use crate::http::{ConnectionSettings, Framing, HttpRequest, HttpResponse, Method, Transport, Url};
use crate::retry::Backoff;
use crate::secret::Secret;

/// The attempts of a request that meets an overloaded server or a lost connection.
const ATTEMPTS: u32 = 3;

/// A client of HTTP APIs, with the environment that credentials come from.
#[derive(Clone, Debug)]
pub struct ApiClient {
    transport: Transport,
    environment: Environment,
    backoff: Backoff,
}

impl ApiClient {
    /// Creates a client. Proxies that the settings leave open come from the environment.
    ///
    /// # Errors
    /// Fails if a setting of the connection is invalid.
    pub fn new(settings: ConnectionSettings, environment: Environment) -> Result<Self, TokenError> {
        let product = concat!("Groma/", env!("CARGO_PKG_VERSION"));
        let transport = Transport::new(&settings.or_environment(&environment), product)?;
        let backoff = Backoff { first: Duration::from_millis(500), ..Backoff::default() };
        Ok(Self { transport, environment, backoff })
    }

    /// Returns the environment that credentials come from.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Returns an environment variable that is set and not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        self.environment.get(name).map(str::to_owned)
    }

    /// Returns the value of a setting, or else the first of these environment variables that is set.
    pub(crate) fn or_variable(&self, value: Option<&str>, names: &[&str]) -> Option<String> {
        value.or_else(|| self.environment.first(names)).map(str::to_owned)
    }

    /// Expands `~/` at the beginning of a path.
    pub(crate) fn in_home(&self, path: &str) -> PathBuf {
        self.environment.expand_home(path)
    }

    /// Sends a request. Must run on a tokio runtime: see [`crate::background`].
    ///
    /// # Errors
    /// Fails if no response arrives after all attempts. A response with an error status is not an error here.
    pub fn send<'a>(&'a self, request: &'a ApiRequest) -> BoxFuture<'a, Result<HttpResponse, TokenError>> {
        // Converted for each attempt, because sending consumes the request.
        self.send_all(request.attempts, move || request.converted())
    }

    /// Sends up to `attempts` requests, each of which `make` makes.
    fn send_all<'a>(
        &'a self,
        attempts: u32,
        make: impl Fn() -> Result<HttpRequest, TokenError> + Send + 'a,
    ) -> BoxFuture<'a, Result<HttpResponse, TokenError>> {
        Box::pin(async move {
            let mut attempt = 1;
            loop {
                let answer = self.transport.send(make()?).await;
                let is_transient = match &answer {
                    // 501 means that the operation does not exist, which another attempt does not change.
                    Ok(answer) => matches!(answer.status.as_u16(), 429 | 500 | 502..=504),
                    Err(error) => error.is_transient(),
                };
                if !is_transient || attempt >= attempts {
                    return Ok(answer?);
                }
                tokio::time::sleep(self.backoff.delay(attempt - 1)).await;
                attempt += 1;
            }
        })
    }

    /// Sends a request and parses the response as JSON.
    ///
    /// # Errors
    /// Fails if no response arrives, if it has an error status (the error then holds the service's message), or if it
    /// is not JSON.
    pub fn json<'a>(&'a self, request: &'a ApiRequest) -> BoxFuture<'a, Result<Json, TokenError>> {
        Box::pin(async move { parsed(&self.send(request).await?) })
    }

    /// Sends a request that `make` makes for each attempt, for signatures that are valid once, and parses the response as JSON.
    ///
    /// # Errors
    /// Fails like [`ApiClient::json`], and if the request cannot be made.
    pub(crate) fn json_of<'a>(
        &'a self,
        make: impl Fn() -> Result<ApiRequest, TokenError> + Send + 'a,
    ) -> BoxFuture<'a, Result<Json, TokenError>> {
        Box::pin(async move { parsed(&self.send_all(ATTEMPTS, move || make()?.converted()).await?) })
    }
}

/// Parses a response as JSON.
fn parsed(answer: &HttpResponse) -> Result<Json, TokenError> {
    let document = serde_json::from_slice::<Json>(&answer.body);
    if !answer.status.is_success() {
        // Proxies and gateways answer with HTML, so an error without JSON is reported by its status alone.
        let message = document.ok().and_then(|document| error_message(&document));
        return Err(TokenError::rejected(answer.status.as_u16(), message.as_deref()));
    }
    document.map_err(|_| TokenError::response("the response of the service is not JSON"))
}

/// A request to an API. Not `Debug`, because headers and body may contain secrets.
#[derive(Clone)]
pub struct ApiRequest {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
    framing: Option<Framing>,
    attempts: u32,
    limit: u64,
}

impl ApiRequest {
    /// Creates a request without a body.
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        let limit = HttpRequest::LIMIT;
        Self {
            method,
            url: url.into(),
            headers: Vec::new(),
            body: Bytes::new(),
            framing: None,
            attempts: ATTEMPTS,
            limit,
        }
    }

    /// Creates a `GET` request.
    pub fn get(url: impl Into<String>) -> Self {
        Self::new(Method::GET, url)
    }

    /// Creates a request with a JSON body.
    pub fn json(method: Method, url: impl Into<String>, body: &Json) -> Self {
        let request = Self::new(method, url).with_header("content-type", "application/json");
        request.with_body(body.to_string())
    }

    /// Creates a `POST` request with a URL-encoded form.
    pub fn form(url: impl Into<String>, fields: &[(&str, &str)]) -> Self {
        // The encoding of URLs is valid in forms, too: every server accepts %20 as well as "+".
        let fields: Vec<String> =
            fields.iter().map(|(name, value)| format!("{}={}", url_encoded(name), url_encoded(value))).collect();
        let request = Self::new(Method::POST, url).with_header("content-type", "application/x-www-form-urlencoded");
        request.with_body(fields.join("&"))
    }

    /// Adds a header; repeated names are sent repeatedly.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Replaces the URL, for signatures that are part of the query.
    #[must_use]
    pub fn with_url(self, url: impl Into<String>) -> Self {
        Self { url: url.into(), ..self }
    }

    /// Sets the body, which repetitions of the request share.
    #[must_use]
    pub fn with_body(self, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// Sets the bytes around the body, which is not copied for them.
    #[must_use]
    pub fn with_framing(self, framing: Framing) -> Self {
        Self { framing: Some(framing), ..self }
    }

    /// Limits the size of the response body in bytes.
    #[must_use]
    pub fn with_limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// Adds the header of a bearer token.
    #[must_use]
    pub fn with_bearer_token(self, token: &Secret) -> Self {
        self.with_header("authorization", format!("Bearer {}", token.reveal()))
    }

    /// Limits the attempts; 1 for servers that usually do not exist.
    #[must_use]
    pub fn with_attempts(self, attempts: u32) -> Self {
        Self { attempts, ..self }
    }

    /// Returns the URL in its parsed form.
    ///
    /// # Errors
    /// The URL is invalid. The message has no query, user name and password, which may be secret.
    pub(crate) fn parsed_url(&self) -> Result<Url, TokenError> {
        Url::parse(&self.url).map_err(|error| {
            TokenError::Connection(format!("{:?} is not a valid URL: {error}", public_part(&self.url)))
        })
    }

    fn converted(&self) -> Result<HttpRequest, TokenError> {
        let mut request = HttpRequest::new(self.method.clone(), self.parsed_url()?);
        for (name, value) in &self.headers {
            // The message names the header only, because its value may be a token.
            let header = name.parse::<crate::http::HeaderName>().ok().zip(value.parse().ok());
            let (name, value) = header.ok_or_else(|| {
                TokenError::setting(format!("the value of the header {name} contains invalid characters"))
            })?;
            request.headers.append(name, value);
        }
        request.body = self.body.clone();
        request.framing = self.framing.clone();
        request.limit = self.limit;
        Ok(request)
    }
}

/// Returns a URL, which may be invalid, without query, fragment, user name and password.
fn public_part(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = path.split_once("://") else { return path.to_owned() };
    // An "@" behind the first slash is part of the path.
    let host = rest.split('/').next().unwrap_or_default();
    let user = host.rfind('@').map_or(0, |position| position + 1);
    format!("{scheme}://{}", &rest[user..])
}

/// An access token with its expiry.
#[derive(Clone, Debug)]
pub struct AccessToken {
    /// The bearer token, hidden in debug output.
    pub secret: Secret,
    /// The time from which on it is not valid; `None` if the issuer does not say.
    pub expires: Option<SystemTime>,
}

impl AccessToken {
    /// The time before its end at which a token is renewed.
    const RENEW_BEFORE: Duration = Duration::from_secs(300);

    /// Wraps a token whose lifetime is unknown.
    pub fn new(secret: impl Into<String>) -> Self {
        Self { secret: Secret::new(secret), expires: None }
    }

    /// Reads the token in the field `name` of a response, and its lifetime in `expires_in`.
    pub(crate) fn in_response(document: &Json, name: &str) -> Result<Self, TokenError> {
        let lifetime = &document["expires_in"];
        // Azure's metadata service writes the number as a string.
        let seconds = lifetime.as_u64().or_else(|| lifetime.as_str()?.parse().ok());
        let expires = seconds.map(|seconds| SystemTime::now() + Duration::from_secs(seconds));
        Ok(Self { secret: Secret::new(string(document, name)?), expires })
    }

    /// Whether the token can be used for some time yet. One without a known end is used once.
    pub(crate) fn is_fresh(&self) -> bool {
        // The margin is longer than any request takes, so a token does not expire between this check and its use.
        self.expires.is_some_and(|expires| expires > SystemTime::now() + Self::RENEW_BEFORE)
    }
}

/// Finds the error message in the body of a rejected request.
fn error_message(document: &Json) -> Option<String> {
    let error = &document["error"];
    let candidates = [
        // Entra ID and the OAuth endpoints of Google
        &document["error_description"],
        // Key Vault and the APIs of Google Cloud
        &error["message"],
        &document["message"],
        // OpenBao and Vault
        &document["errors"][0],
        // A plain string in "error" is an OAuth code such as "invalid_grant", less helpful than any message.
        error,
    ];
    candidates.into_iter().find_map(Json::as_str).map(str::to_owned)
}

/// Decodes a Base64 field of a response.
///
/// # Errors
/// Fails if the field is missing or not Base64.
pub fn bytes(document: &Json, name: &str) -> Result<Vec<u8>, TokenError> {
    let encoded = string(document, name)?;
    // Key Vault answers in the URL-safe alphabet, the other services in the standard one.
    let standard = BASE64_STANDARD.decode(&encoded);
    let decoded = standard.or_else(|_| BASE64_URL_SAFE_NO_PAD.decode(encoded.trim_end_matches('=')));
    decoded.map_err(|_| TokenError::response(format!("{name} in the response of the service is not valid Base64")))
}

/// Returns a string field of a response.
///
/// # Errors
/// Fails if the field is missing or no string.
pub fn string(document: &Json, name: &str) -> Result<String, TokenError> {
    let string = document[name].as_str().map(str::to_owned);
    string.ok_or_else(|| TokenError::response(format!("the response of the service has no {name}")))
}

/// Percent-encodes a string for a URL or a form; only unreserved characters stay (RFC 3986, section 2.3).
pub fn url_encoded(string: &str) -> String {
    let is_unreserved = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    let encoded = |byte: u8| if is_unreserved(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    string.bytes().map(encoded).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_are_fresh_until_shortly_before_their_end() {
        let token =
            |lifetime: Json| AccessToken::in_response(&json!({ "t": "x", "expires_in": lifetime }), "t").unwrap();
        assert!(token(json!(3600)).is_fresh() && token(json!("3600")).is_fresh());
        // 200 seconds are within the margin for renewal, and a token of unknown lifetime must not be kept.
        assert!(!token(json!(200)).is_fresh() && !token(Json::Null).is_fresh());
    }

    #[test]
    fn invalid_urls_are_shown_without_secrets() {
        for (url, shown) in [
            ("https://sts.example.com:x/?SecurityToken=hush&Signature=hush", "https://sts.example.com:x/"),
            ("https://me:hush@host:x/a@b#hush", "https://host:x/a@b"),
            ("sts?SecurityToken=hush", "sts"),
        ] {
            let message = ApiRequest::get(url).converted().err().unwrap().to_string();
            assert!(message.contains(&format!("{shown:?}")) && !message.contains("hush"), "{message}");
        }
    }

    #[test]
    fn messages_of_services_are_found() {
        let found = |document: Json| error_message(&document);
        assert_eq!(found(json!({ "error": "e", "error_description": "d" })).as_deref(), Some("d"));
        assert_eq!(found(json!({ "error": { "message": "m" } })).as_deref(), Some("m"));
        assert_eq!(found(json!({ "errors": ["o"] })).as_deref(), Some("o"));
        assert_eq!(found(json!({})), None);
    }
}
