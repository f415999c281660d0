//! The surroundings of the program, handed in by the command line.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use groma_cloud::Secret;

use crate::error::StoreError;
use crate::store::StoreFuture;

/// A snapshot of environment variables, so that only the command line touches those of the process.
#[derive(Clone, Default)]
pub struct Environment(Arc<BTreeMap<String, String>>);

impl Environment {
    /// Creates an environment of these variables.
    pub fn of<K: Into<String>, V: Into<String>>(variables: impl IntoIterator<Item = (K, V)>) -> Self {
        Self(Arc::new(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect()))
    }

    /// Returns the value of a variable; `None` if it is unset or empty.
    pub fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).filter(|value| !value.is_empty()).cloned()
    }

    /// Returns the first of `names` that is set, with its value.
    pub fn first(&self, names: &[&'static str]) -> Option<(&'static str, String)> {
        names.iter().find_map(|name| Some((*name, self.get(name)?)))
    }

    /// Returns a copy in which these variables are set unless they are set already.
    pub(crate) fn with_missing(&self, variables: Vec<(&'static str, String)>) -> Self {
        let missing = variables.into_iter().filter(|(name, _)| self.get(name).is_none());
        let missing: Vec<_> = missing.map(|(name, value)| (name.to_owned(), value)).collect();
        Self::of(self.0.iter().map(|(name, value)| (name.clone(), value.clone())).chain(missing))
    }

    /// Returns the environment for clients of clouds.
    pub(crate) fn for_clouds(&self) -> groma_cloud::Environment {
        self.0.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The variables may hold credentials.
        f.write_str("Environment")
    }
}

/// The tokens of hosts, from all sources that the program knows: environment variables, the CLI configuration, credentials
/// helpers.
pub trait HostTokens: Send + Sync {
    /// Returns the token for a host (`name` or `name:port`), if there is one.
    ///
    /// Fails if a credentials helper fails, with [`crate::StoreError::Unauthenticated`].
    fn token<'a>(&'a self, hostname: &'a str) -> StoreFuture<'a, Option<Secret>>;
}

/// A source of tokens, or none.
#[derive(Clone, Default)]
pub struct Tokens(Option<Arc<dyn HostTokens>>);

impl Tokens {
    /// Uses this source.
    pub fn of(source: impl HostTokens + 'static) -> Self {
        Self(Some(Arc::new(source)))
    }

    /// Returns the token for a host, if there is one.
    pub(crate) async fn token(&self, hostname: &str) -> Result<Option<Secret>, StoreError> {
        match &self.0 {
            Some(source) => source.token(hostname).await,
            None => Ok(None),
        }
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A source may hold credentials.
        f.write_str("Tokens")
    }
}

/// The surroundings of a store: environment, home directory, identity of the program.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// The environment variables.
    pub environment: Environment,
    /// The home directory of the user.
    pub home: Option<PathBuf>,
    /// The name of the program and its version for `User-Agent` headers: `Groma/0.1.0`.
    pub user_agent: String,
    /// The tokens of hosts.
    pub tokens: Tokens,
}
