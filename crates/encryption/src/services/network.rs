//! The HTTP client and the environment that services need. The command line implements [`Network`], so that this
//! crate depends on no HTTP library and tests can answer requests themselves.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde_json::Value as Json;

use crate::error::KeyError;

/// An HTTP client, and the environment that credentials come from.
pub trait Network: fmt::Debug + Send + Sync {
    /// Sends a request once, without retries, and waits for the response.
    ///
    /// # Errors
    /// Fails if no response arrives. A response with an error status is not an error here.
    fn send(&self, request: &NetworkRequest, options: &ConnectionOptions) -> Result<NetworkAnswer, KeyError>;

    /// Returns an environment variable that is set and not empty.
    fn variable(&self, name: &str) -> Option<String>;

    /// Returns the home directory of the user.
    fn home(&self) -> Option<PathBuf>;
}

/// Settings of the connection to a service. A setting that is `None` is left to the environment (`HTTPS_PROXY` ...).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionOptions {
    /// The proxy for `http:` URLs.
    pub http_proxy: Option<String>,
    /// The proxy for `https:` URLs.
    pub https_proxy: Option<String>,
    /// The hosts that are reached without a proxy, in the syntax of `NO_PROXY`.
    pub no_proxy: Option<String>,
    /// A PEM file with the certificate authorities to trust instead of those of the system.
    pub ca_bundle: Option<PathBuf>,
    /// Whether the certificate of the server is verified.
    pub tls_verification: TlsVerification,
    /// The deadline for a response, if it differs from the client's default.
    pub timeout: Option<Duration>,
}

/// Whether the certificate of a server is verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsVerification {
    /// The certificate must be valid for the host and issued by a trusted authority.
    #[default]
    Enabled,
    /// Any certificate is accepted, as the argument `insecure` requests.
    Disabled,
}

/// The access keys of an AWS account. `Debug` prints the access key ID only.
#[derive(Clone)]
pub struct AwsKeys {
    /// The access key ID.
    pub id: String,
    /// The secret access key.
    pub secret: String,
    /// The session token, which temporary keys have.
    pub session: Option<String>,
}

impl AwsKeys {
    /// Reads the keys from `AWS_ACCESS_KEY_ID` and its companions.
    pub(super) fn from_environment(network: &dyn Network) -> Option<Self> {
        let (id, secret) = (network.variable("AWS_ACCESS_KEY_ID")?, network.variable("AWS_SECRET_ACCESS_KEY")?);
        Some(Self { id, secret, session: network.variable("AWS_SESSION_TOKEN") })
    }
}

/// An HTTP request. Not `Debug`, because headers and body may contain secrets.
#[derive(Clone)]
pub struct NetworkRequest {
    /// `GET`, `POST` or `PUT`.
    pub method: &'static str,
    /// The absolute URL.
    pub url: String,
    /// Header names and values in the order of sending.
    pub headers: Vec<(String, String)>,
    /// Empty for `GET`.
    pub body: Vec<u8>,
}

/// An HTTP response. Not `Debug`, because the body may contain secrets.
#[derive(Clone)]
pub struct NetworkAnswer {
    /// The HTTP status code.
    pub status: u16,
    /// The body, already decompressed.
    pub body: Vec<u8>,
}

impl fmt::Debug for AwsKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AwsKeys({})", self.id)
    }
}

impl NetworkRequest {
    pub(super) fn get(url: String) -> Self {
        Self { method: "GET", url, headers: Vec::new(), body: Vec::new() }
    }

    /// Builds a request with a JSON body.
    pub(super) fn json(method: &'static str, url: String, body: &Json) -> Self {
        Self { method, url, headers: Vec::new(), body: body.to_string().into_bytes() }
            .with_header("content-type", "application/json")
    }

    /// Builds a `POST` request with a URL-encoded form.
    pub(super) fn form(url: String, fields: &[(&str, &str)]) -> Self {
        let fields: Vec<String> =
            fields.iter().map(|(name, value)| format!("{}={}", url_encoded(name), url_encoded(value))).collect();
        Self { method: "POST", url, headers: Vec::new(), body: fields.join("&").into_bytes() }
            .with_header("content-type", "application/x-www-form-urlencoded")
    }

    pub(super) fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub(super) fn with_bearer_token(self, token: &str) -> Self {
        self.with_header("authorization", format!("Bearer {token}"))
    }
}

/// Sends a request with default options and parses the response as JSON.
///
/// # Errors
/// Fails if no response arrives, if it has an error status (the error then holds the service's message), or if it is
/// not JSON.
pub(super) fn request_json(network: &dyn Network, request: &NetworkRequest) -> Result<Json, KeyError> {
    request_json_with(network, request, &ConnectionOptions::default())
}

/// Sends a request and parses the response as JSON.
///
/// # Errors
/// Fails like [`request_json`].
pub(super) fn request_json_with(
    network: &dyn Network,
    request: &NetworkRequest,
    options: &ConnectionOptions,
) -> Result<Json, KeyError> {
    let answer = network.send(request, options)?;
    let document = serde_json::from_slice::<Json>(&answer.body);
    if !(200..300).contains(&answer.status) {
        let message = document.ok().and_then(|document| error_message(&document));
        return Err(KeyError::rejected(answer.status, message.as_deref()));
    }
    document.map_err(|_| KeyError::response("the response of the service is not JSON"))
}

/// Finds the error message in the body of a rejected request.
fn error_message(document: &Json) -> Option<String> {
    let error = &document["error"];
    let candidates = [
        // Entra ID and the OAuth endpoints of Google
        &document["error_description"],
        // Key Vault and the APIs of Google Cloud
        &error["message"],
        // AWS writes the name in either case, depending on the error
        &document["message"],
        &document["Message"],
        // OpenBao and Vault
        &document["errors"][0],
        error,
        // AWS errors without a message have at least a type
        &document["__type"],
    ];
    candidates.into_iter().find_map(Json::as_str).map(str::to_owned)
}

/// Decodes a Base64 field of a response.
pub(super) fn bytes(document: &Json, name: &str) -> Result<Vec<u8>, KeyError> {
    let encoded = string(document, name)?;
    // Key Vault answers in the URL-safe alphabet, the other services in the standard one.
    let standard = BASE64_STANDARD.decode(&encoded);
    let decoded = standard.or_else(|_| BASE64_URL_SAFE_NO_PAD.decode(encoded.trim_end_matches('=')));
    decoded.map_err(|_| KeyError::response(format!("{name} in the response of the service is not valid Base64")))
}

/// Returns a string field of a response.
pub(super) fn string(document: &Json, name: &str) -> Result<String, KeyError> {
    let string = document[name].as_str().map(str::to_owned);
    string.ok_or_else(|| KeyError::response(format!("the response of the service has no {name}")))
}

/// Percent-encodes a string for a URL or a form; only unreserved characters stay (RFC 3986, section 2.3).
pub(super) fn url_encoded(string: &str) -> String {
    let is_unreserved = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    let encoded = |byte: u8| if is_unreserved(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    string.bytes().map(encoded).collect()
}

/// Returns the value of an argument, or else the first of these environment variables that is set.
pub(super) fn or_variable(value: Option<String>, network: &dyn Network, names: &[&str]) -> Option<String> {
    value.or_else(|| names.iter().find_map(|name| network.variable(name)))
}

/// Expands `~/` at the beginning of a path.
pub(super) fn in_home(path: &str, network: &dyn Network) -> PathBuf {
    match (path.strip_prefix("~/"), network.home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}
