//! One OAuth login attempt.

use std::io;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use groma_diagnostics::io_reason;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use uuid::Uuid;

use super::callback::{Word, wait};
use super::client::OauthClient;
use crate::credentials::Token;
use crate::http::{Http, HttpError, Url};

/// The maximum length of a token response in bytes.
const LARGEST_ANSWER: u64 = 1 << 20;

/// The reason why a login failed.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// None of the allowed ports is free.
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
pub struct Attempt {
    client: OauthClient,
    listener: TcpListener,
    redirect: String,
    verifier: String,
    state: String,
}

impl Attempt {
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
            Word::Code(code) => code,
            Word::Refused(why) => return Err(LoginError::Refused(why)),
        };
        let fields = [
            ("grant_type", "authorization_code"),
            ("client_id", &self.client.id),
            ("code", &code),
            ("code_verifier", &self.verifier),
            ("redirect_uri", &self.redirect),
        ];
        let answer = http.post_form(&self.client.token, &fields, LARGEST_ANSWER).await?;
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
    for step in 0..count.min(64) {
        let port = low.saturating_add(u16::try_from((first + step) % count).unwrap_or_default());
        match TcpListener::bind(("127.0.0.1", port)).await {
            Ok(listener) => return Ok((listener, port)),
            Err(error) => last = error,
        }
    }
    Err(last)
}
