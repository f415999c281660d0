//! Credentials of hosts: tokens from the settings, and credentials helpers.

mod file;
mod helper;
mod stores;

pub use file::TokenFile;
pub use helper::{Helper, HelperError};
pub(crate) use stores::Login;
pub use stores::Stores;

use std::collections::HashMap;
use std::fmt;

use tokio::sync::Mutex;

/// Selects the token for a host.
#[derive(Debug, Default)]
pub struct Credentials {
    tokens: HashMap<String, Token>,
    helper: Option<Helper>,
    stores: Stores,
    lacking: Option<String>,
    asked: Mutex<HashMap<String, Option<Token>>>,
}

impl Credentials {
    /// Creates credentials from tokens by host, in order of precedence: the first one for a host counts. The helper
    /// provides the others.
    pub fn new(tokens: impl IntoIterator<Item = (String, Token)>, helper: Option<Helper>) -> Self {
        let mut ranked = HashMap::new();
        for (host, token) in tokens {
            ranked.entry(normal_host(&host)).or_insert(token);
        }
        Self { tokens: ranked, helper, ..Self::default() }
    }

    /// Adds credentials for object stores.
    #[must_use]
    pub fn with_stores(self, stores: Stores) -> Self {
        Self { stores, ..self }
    }

    /// Records that the configured helper was not found. Only hosts that need it fail with `why`.
    #[must_use]
    pub fn lacking_helper(self, why: String) -> Self {
        Self { lacking: Some(why), ..self }
    }

    /// Returns why the configured helper is missing, if it is.
    pub fn lacking(&self) -> Option<&str> {
        self.lacking.as_deref()
    }

    /// Returns the error for a host that requires a token and has none.
    pub(crate) fn needed_by(&self, host: &str) -> String {
        let why = self.lacking.as_ref().map(|why| format!(". {why}")).unwrap_or_default();
        format!("host {host} asks for credentials: give some with \"login {host}\" or in the CLI configuration{why}")
    }

    /// The credentials for object stores.
    pub(crate) fn stores(&self) -> &Stores {
        &self.stores
    }

    /// Returns the token for `host` (`name` or `name:port`), if any. Runs the helper at most once for each host.
    ///
    /// # Errors
    /// Fails if the helper fails.
    pub async fn token(&self, host: &str) -> Result<Option<Token>, HelperError> {
        let host = normal_host(host);
        if let Some(token) = self.tokens.get(&host) {
            return Ok(Some(token.clone()));
        }
        let Some(helper) = &self.helper else { return Ok(None) };
        // Held while the helper runs, so that concurrent requests for a host run it once.
        let mut asked = self.asked.lock().await;
        if let Some(answer) = asked.get(&host) {
            return Ok(answer.clone());
        }
        let answer = helper.get(&host).await?;
        asked.insert(host, answer.clone());
        Ok(answer)
    }

    /// The configured credentials helper.
    pub fn helper(&self) -> Option<&Helper> {
        self.helper.as_ref()
    }
}

/// Normalizes a host for lookups: lower case, ASCII form of international names, without the default port of HTTPS.
pub fn normal_host(host: &str) -> String {
    // The URL parser applies the rules for international names and default ports.
    let parsed = reqwest::Url::parse(&format!("https://{host}"));
    let Ok(url) = parsed else { return host.to_lowercase() };
    match (url.host_str(), url.port()) {
        (Some(name), Some(port)) => format!("{name}:{port}"),
        (Some(name), None) => name.to_owned(),
        _ => host.to_lowercase(),
    }
}

/// Reads tokens from variables such as `TF_TOKEN_app_example_com`: an underscore means a period, two mean a hyphen.
pub fn tokens_of_environment(environment: &[(String, String)]) -> Vec<(String, Token)> {
    let tokens = environment.iter().filter_map(|(name, value)| {
        let host = name.strip_prefix("TF_TOKEN_").filter(|_| !value.is_empty())?;
        // Two underscores first, or each would become a period.
        Some((host.replace("__", "-").replace('_', "."), Token::new(value.as_str())))
    });
    tokens.collect()
}

/// A secret token. `Debug` and messages never show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Wraps the text of a token.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text, for a request or a credentials file only.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(...)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_name_hosts_with_underscores() {
        let environment = [("TF_TOKEN_my__app_example_com", "s3cret"), ("TF_TOKEN_empty_com", ""), ("TF_LOG", "x")];
        let environment: Vec<_> = environment.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let tokens = tokens_of_environment(&environment);
        assert_eq!(tokens.len(), 1);
        assert_eq!(tokens[0].0, "my-app.example.com");
        assert_eq!(tokens[0].1.secret(), "s3cret");
    }

    #[test]
    fn hosts_are_compared_in_their_normal_form() {
        assert_eq!(normal_host("Example.COM:443"), "example.com");
        assert_eq!(normal_host("Испытание.com"), "xn--80akhbyknj4f.com");
        assert_eq!(normal_host("localhost:8443"), "localhost:8443");
    }
}
