//! Login to a host with OAuth, as its `login.v1` service describes. The authorization code returns to a loopback
//! server; PKCE proves that the same program requested it.

use std::io;
use std::ops::RangeInclusive;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use groma_diagnostics::io_reason;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use uuid::Uuid;

use crate::credentials::Token;
use crate::discovery::{ServiceError, Services};
use crate::http::{Http, HttpError, Url};

/// The service ID in the discovery document.
const SERVICE: &str = "login.v1";

/// The ports that are used if the host names none.
const PORTS: RangeInclusive<u16> = 1024..=65535;

/// The OAuth client that a host describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OauthClient {
    /// The identifier under which the host knows this program.
    pub id: String,
    /// The URL of the authorization page.
    pub authorize: Url,
    /// The URL of the token endpoint.
    pub token: Url,
    /// The allowed ports of the redirect URL.
    pub ports: RangeInclusive<u16>,
    /// The OAuth scopes of the token.
    pub scopes: Vec<String>,
}

impl OauthClient {
    /// Returns the client that the host describes, or `None` if it does not offer the service.
    ///
    /// # Errors
    /// Fails if the description is invalid, or requires an unsupported grant type.
    pub fn of(services: &Services) -> Result<Option<Self>, ServiceError> {
        let object = match services.object(SERVICE) {
            Ok(object) => object,
            Err(ServiceError::NotOffered { .. }) => return Ok(None),
            Err(problem) => return Err(problem),
        };
        let wrong = |reason: &str| services.invalid(SERVICE, reason);
        let grants = texts(object, "grant_types");
        if grants.as_ref().is_some_and(|grants| !grants.iter().any(|grant| grant == "authz_code")) {
            return Err(wrong("of its grant_types none is known here: \"authz_code\" is expected"));
        }
        let text = |name: &str| {
            let value = object.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
            value.ok_or_else(|| wrong(&format!("it has no {name:?}")))
        };
        Ok(Some(Self {
            id: text("client")?.to_owned(),
            authorize: services.join(SERVICE, text("authz")?)?,
            token: services.join(SERVICE, text("token")?)?,
            ports: ports(object)
                .ok_or_else(|| wrong("its \"ports\" must be two ports from 1024 on, the lower one first"))?,
            scopes: texts(object, "scopes").unwrap_or_default(),
        }))
    }
}

fn texts(object: &Map<String, Value>, name: &str) -> Option<Vec<String>> {
    let list = object.get(name)?.as_array()?;
    Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

fn ports(object: &Map<String, Value>) -> Option<RangeInclusive<u16>> {
    let Some(ports) = object.get("ports") else { return Some(PORTS) };
    let port = |value: &Value| value.as_u64().and_then(|port| u16::try_from(port).ok());
    match ports.as_array().map(Vec::as_slice) {
        Some([low, high]) => Some(port(low)?..=port(high)?).filter(|ports| !ports.is_empty() && *ports.start() >= 1024),
        _ => None,
    }
}

/// The maximum length of a token response in bytes.
const LARGEST_ANSWER: u64 = 1 << 20;

/// The reason why a login failed.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// All of the allowed ports are in use.
    #[error("no port from {low} to {high} is free for the redirect from the browser: {}", io_reason(source))]
    Port {
        /// The lowest allowed port.
        low: u16,
        /// The highest allowed port.
        high: u16,
        /// The error of the operating system for the last port.
        source: io::Error,
    },
    /// Waiting for the browser failed.
    #[error("waiting for the browser failed: {}", io_reason(.0))]
    Waiting(io::Error),
    /// The user or the host denied the login.
    #[error("the host refused: {0}")]
    Refused(String),
    /// The authorization code could not be exchanged.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The host refused to issue a token for the code.
    #[error("the host did not issue a token: {0}")]
    NoToken(String),
}

/// A login attempt that waits for the browser.
#[derive(Debug)]
pub struct LoginAttempt {
    client: OauthClient,
    listener: TcpListener,
    redirect: String,
    verifier: String,
    state: String,
}

impl LoginAttempt {
    /// Starts the server on a port that the host allows.
    ///
    /// # Errors
    /// Fails if no port is free.
    pub async fn begin(client: OauthClient) -> Result<Self, LoginError> {
        let (low, high) = (*client.ports.start(), *client.ports.end());
        let (listener, port) = bind(low, high).await.map_err(|source| LoginError::Port { low, high, source })?;
        Ok(Self {
            client,
            listener,
            redirect: format!("http://localhost:{port}/login"),
            // 64 characters: PKCE requires from 43 to 128 (RFC 7636).
            verifier: format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()),
            state: Uuid::new_v4().to_string(),
        })
    }

    /// Returns the URL of the authorization page.
    pub fn page(&self) -> Url {
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(self.verifier.as_bytes()));
        let mut page = self.client.authorize.clone();
        let mut query = page.query_pairs_mut();
        query
            .append_pair("client_id", &self.client.id)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256")
            .append_pair("redirect_uri", &self.redirect)
            .append_pair("response_type", "code")
            .append_pair("state", &self.state);
        if !self.client.scopes.is_empty() {
            query.append_pair("scope", &self.client.scopes.join(" "));
        }
        drop(query);
        page
    }

    /// Waits for the browser, and exchanges the authorization code for a token.
    ///
    /// # Errors
    /// Fails if there is no token in the end.
    pub async fn finish(&self, http: &Http) -> Result<Token, LoginError> {
        let code = match wait(&self.listener, &self.state).await.map_err(LoginError::Waiting)? {
            AuthorizationResponse::Code(code) => code,
            AuthorizationResponse::Refused(why) => return Err(LoginError::Refused(why)),
        };
        let fields = [
            ("grant_type", "authorization_code"),
            ("client_id", &self.client.id),
            ("code", &code),
            ("code_verifier", &self.verifier),
            ("redirect_uri", &self.redirect),
        ];
        let answer = http.post_form(&self.client.token, &fields, LARGEST_ANSWER).await?;
        // An answer that is not JSON has no token and no description; its status is reported.
        let object: Map<String, Value> = serde_json::from_slice(&answer.body).unwrap_or_default();
        let text = |name: &str| object.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        match text("access_token").filter(|_| answer.status.is_success()) {
            Some(token) => Ok(Token::new(token)),
            None => {
                let said = text("error_description").or_else(|| text("error"));
                Err(LoginError::NoToken(said.map_or_else(|| format!("it answered {}", answer.status), str::to_owned)))
            }
        }
    }
}

/// Binds a free port. Starts at a random one, so that two attempts rarely collide.
async fn bind(low: u16, high: u16) -> io::Result<(TcpListener, u16)> {
    let count = u32::from(high - low) + 1;
    let first = u32::from(Uuid::new_v4().as_fields().1) % count;
    let mut last = io::Error::other("no port was tried");
    // Enough to find a free port, unless something is wrong with all of them.
    for step in 0..count.min(64) {
        let port = low.saturating_add(u16::try_from((first + step) % count).unwrap_or_default());
        // Only this machine may deliver the code.
        match TcpListener::bind(("127.0.0.1", port)).await {
            Ok(listener) => return Ok((listener, port)),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The maximum size in bytes of a request head; no browser sends more.
const LONGEST_REQUEST: usize = 64 << 10;

/// The deadline for the browser to send its request.
const PATIENCE: Duration = Duration::from_secs(5);

/// The authorization response of the host, from the parameters of the redirect (RFC 6749, section 4.1.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AuthorizationResponse {
    Code(String),
    Refused(String),
}

/// Answers requests until one has the expected `state`.
pub(super) async fn wait(listener: &TcpListener, state: &str) -> io::Result<AuthorizationResponse> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        // A connection without a request, as browsers open them in advance, must not block the real one.
        let Ok(Some(target)) = tokio::time::timeout(PATIENCE, target(&mut stream)).await else { continue };
        let response = authorization_response(&target, state);
        let (status, text) = match &response {
            Some(AuthorizationResponse::Code(_)) => {
                ("200 OK", "The login was successful. This page can be closed now.")
            }
            Some(AuthorizationResponse::Refused(_)) => ("200 OK", "The host refused the login. The terminal says why."),
            // Browsers also ask for an icon.
            None => ("404 Not Found", "There is nothing here."),
        };
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
            text.len()
        );
        // The request is complete, so it does not matter if the browser has closed the connection.
        let _ = stream.write_all(answer.as_bytes()).await;
        if let Some(response) = response {
            return Ok(response);
        }
    }
}

/// Returns the path and the query of a request.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    while !seen.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut buffer).await.ok()?;
        if count == 0 || seen.len() > LONGEST_REQUEST {
            return None;
        }
        seen.extend_from_slice(buffer.get(..count)?);
    }
    let text = String::from_utf8_lossy(&seen);
    let mut words = text.lines().next()?.split(' ');
    (words.next()? == "GET").then(|| words.next().map(str::to_owned))?
}

fn authorization_response(target: &str, state: &str) -> Option<AuthorizationResponse> {
    let url = Url::parse("http://localhost/").and_then(|base| base.join(target)).ok()?;
    let value = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    // Any process on this machine may connect, but only the redirect of the host has the state.
    if url.path() != "/login" || value("state")? != state {
        return None;
    }
    if let Some(problem) = value("error") {
        return Some(AuthorizationResponse::Refused(value("error_description").unwrap_or(problem)));
    }
    value("code").filter(|code| !code.is_empty()).map(AuthorizationResponse::Code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> Result<Option<OauthClient>, ServiceError> {
        OauthClient::of(&Services::of("example.com", serde_json::from_str(json).unwrap()).unwrap())
    }

    #[test]
    fn relative_urls_are_resolved_against_the_host() {
        let client = of(r#"{"login.v1": {"client": "cli", "authz": "/a", "token": "t", "ports": [10000, 10010]}}"#);
        let client = client.unwrap().unwrap();
        assert_eq!(client.authorize.as_str(), "https://example.com/a");
        assert_eq!(client.ports, 10000..=10010);
    }

    #[test]
    fn invalid_descriptions_are_errors_and_missing_ones_are_none() {
        assert_eq!(of("{}"), Ok(None));
        for (json, word) in [
            (r#"{"login.v1": {"authz": "/a", "token": "/t"}}"#, "client"),
            (r#"{"login.v1": {"client": "c", "authz": "/a", "token": "/t", "ports": [80, 90]}}"#, "ports"),
            (
                r#"{"login.v1": {"client": "c", "authz": "/a", "token": "/t", "grant_types": ["password"]}}"#,
                "grant_types",
            ),
        ] {
            assert!(of(json).unwrap_err().to_string().contains(word), "{json}");
        }
    }

    #[test]
    fn redirect_requires_the_expected_state() {
        assert_eq!(
            authorization_response("/login?code=c&state=s", "s"),
            Some(AuthorizationResponse::Code("c".to_owned()))
        );
        assert_eq!(authorization_response("/login?code=c&state=other", "s"), None);
        assert_eq!(authorization_response("/login?code=c", "s"), None);
        assert_eq!(authorization_response("/favicon.ico?state=s&code=c", "s"), None);
        assert_eq!(
            authorization_response("/login?state=s&error=access_denied", "s"),
            Some(AuthorizationResponse::Refused("access_denied".to_owned()))
        );
    }
}
