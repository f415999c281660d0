//! One attempt to log in.

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

/// A token is not longer.
const LARGEST_ANSWER: u64 = 1 << 20;

/// The error of a login.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// No port of those that the host allows is free.
    #[error("no port from {low} to {high} is free to wait on for the browser: {}", io_reason(source))]
    Port {
        /// The lowest port that the host allows.
        low: u16,
        /// The last port of the range.
        high: u16,
        /// The error of the last port.
        source: io::Error,
    },
    /// Waiting for the browser failed.
    #[error("waiting for the browser failed: {}", io_reason(.0))]
    Waiting(io::Error),
    /// The person or the host said no.
    #[error("the host refused: {0}")]
    Refused(String),
    /// The code cannot be redeemed.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The host does not give a token for the code.
    #[error("the host does not give a token: {0}")]
    NoToken(String),
}

/// An attempt under way: the server waits for the browser.
#[derive(Debug)]
pub struct Attempt {
    client: OauthClient,
    listener: TcpListener,
    redirect: String,
    verifier: String,
    state: String,
}

impl Attempt {
    /// Begins to wait on a port that the host allows.
    ///
    /// # Errors
    /// There is no free port.
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

    /// The page on which a person gives consent.
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

    /// Waits for the browser, and redeems what it brings.
    ///
    /// # Errors
    /// There is no token in the end.
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

/// A free port; the tries begin anywhere, so that two attempts seldom meet.
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
