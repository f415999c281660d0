//! How services are spoken with. The command line brings the client, and says what the environment holds.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde_json::Value as Json;

/// A client for services, and what the surroundings say of who asks.
pub trait Network: fmt::Debug + Send + Sync {
    /// Sends a request over `way`, once, and waits for the answer.
    ///
    /// # Errors
    /// When there is no answer; the text has no secrets.
    fn send(&self, request: &NetworkRequest, way: &Way) -> Result<NetworkAnswer, String>;

    /// A variable of the environment that is not empty.
    fn variable(&self, name: &str) -> Option<String>;

    /// The home folder.
    fn home(&self) -> Option<PathBuf>;
}

/// How requests get to a service, where that is not left to the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// The proxy for addresses that begin with `http:`.
    pub http_proxy: Option<String>,
    /// The proxy for addresses that begin with `https:`.
    pub https_proxy: Option<String>,
    /// What is asked without a proxy, as in `NO_PROXY`.
    pub no_proxy: Option<String>,
    /// The certificate authorities that count, in place of those of the system: a file in PEM.
    pub authorities: Option<PathBuf>,
    /// Who is believed to be the service.
    pub trust: Trust,
    /// How long an answer is waited for, where that is not as long as usual.
    pub patience: Option<Duration>,
}

/// Who is believed to be a service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Who has a certificate.
    #[default]
    Proven,
    /// Anybody: `insecure`.
    Anybody,
}

/// The keys of an account at AWS.
#[derive(Clone)]
pub struct AwsKeys {
    /// The name of the key.
    pub id: String,
    /// The key.
    pub secret: String,
    /// What belongs to a key that is only lent.
    pub session: Option<String>,
}

impl AwsKeys {
    /// Those that the environment has.
    pub(super) fn of_environment(network: &dyn Network) -> Option<Self> {
        let (id, secret) = (network.variable("AWS_ACCESS_KEY_ID")?, network.variable("AWS_SECRET_ACCESS_KEY")?);
        Some(Self { id, secret, session: network.variable("AWS_SESSION_TOKEN") })
    }
}

/// A request to a service.
#[derive(Clone)]
pub struct NetworkRequest {
    /// `GET`, `POST` or `PUT`.
    pub method: &'static str,
    /// Where to.
    pub url: String,
    /// The headers, which may be secrets.
    pub headers: Vec<(String, String)>,
    /// The body, which may be a secret.
    pub body: Vec<u8>,
}

/// The answer of a service.
#[derive(Clone)]
pub struct NetworkAnswer {
    /// The status.
    pub status: u16,
    /// The body, which may be a secret.
    pub body: Vec<u8>,
}

impl fmt::Debug for AwsKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AwsKeys({})", self.id)
    }
}

impl NetworkRequest {
    /// A request for what is at `url`.
    pub(super) fn get(url: String) -> Self {
        Self { method: "GET", url, headers: Vec::new(), body: Vec::new() }
    }

    /// A document for `url`.
    pub(super) fn json(method: &'static str, url: String, body: &Json) -> Self {
        Self { method, url, headers: Vec::new(), body: body.to_string().into_bytes() }
            .with("content-type", "application/json")
    }

    /// A form for `url`.
    pub(super) fn form(url: String, fields: &[(&str, &str)]) -> Self {
        let fields: Vec<String> =
            fields.iter().map(|(name, value)| format!("{}={}", escaped(name), escaped(value))).collect();
        Self { method: "POST", url, headers: Vec::new(), body: fields.join("&").into_bytes() }
            .with("content-type", "application/x-www-form-urlencoded")
    }

    /// The same with a further header.
    pub(super) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The same by somebody who has a token.
    pub(super) fn by(self, token: &str) -> Self {
        self.with("authorization", format!("Bearer {token}"))
    }
}

/// The document that a service answers.
///
/// # Errors
/// When it answers something else, or refuses; its own words are told.
pub(super) fn asked(network: &dyn Network, request: &NetworkRequest) -> Result<Json, String> {
    asked_over(network, request, &Way::default())
}

/// The same over a way of one's own.
pub(super) fn asked_over(network: &dyn Network, request: &NetworkRequest, way: &Way) -> Result<Json, String> {
    let answer = network.send(request, way)?;
    let document = serde_json::from_slice::<Json>(&answer.body);
    if !(200..300).contains(&answer.status) {
        return Err(refusal(answer.status, document.ok().and_then(|document| complaint(&document)).as_deref()));
    }
    document.map_err(|_| "the service answered something that is no JSON".to_owned())
}

/// That a service refuses, with its own words.
pub(super) fn refusal(status: u16, why: Option<&str>) -> String {
    let why = why.map_or_else(String::new, |why| {
        let text = why.split_whitespace().collect::<Vec<&str>>().join(" ");
        format!(": {}", text.chars().take(500).collect::<String>().trim_end_matches('.'))
    });
    format!("the service answered with the status {status}{why}")
}

/// What a service says of a request that it refuses. There are as many forms as services.
fn complaint(document: &Json) -> Option<String> {
    let error = &document["error"];
    let texts = [
        &document["error_description"],
        &error["message"],
        &document["message"],
        &document["Message"],
        &document["errors"][0],
        error,
        &document["__type"],
    ];
    texts.into_iter().find_map(Json::as_str).map(str::to_owned)
}

/// The bytes that a document holds under a name, in Base64 of either alphabet.
pub(super) fn bytes(document: &Json, name: &str) -> Result<Vec<u8>, String> {
    let text = document[name].as_str().ok_or_else(|| format!("the answer of the service has no {name}"))?;
    let standard = BASE64_STANDARD.decode(text);
    let found = standard.or_else(|_| BASE64_URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')));
    found.map_err(|_| format!("the answer of the service has something else than Base64 as its {name}"))
}

/// A text that a document holds under a name.
pub(super) fn text(document: &Json, name: &str) -> Result<String, String> {
    document[name].as_str().map(str::to_owned).ok_or_else(|| format!("the answer of the service has no {name}"))
}

/// A text as a part of an address or a form.
pub(super) fn escaped(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    text.bytes().map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// What is given, or else what the first of these variables holds.
pub(super) fn or_variable(given: Option<String>, network: &dyn Network, names: &[&str]) -> Option<String> {
    given.or_else(|| names.iter().find_map(|name| network.variable(name)))
}

/// A path that may begin with `~/`.
pub(super) fn in_home(path: &str, network: &dyn Network) -> PathBuf {
    match (path.strip_prefix("~/"), network.home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}
