//! The surroundings of the program, handed in by the command line.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

type ReadVariable = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Reads environment variables through a function, so that only the command line touches those of the process.
#[derive(Clone)]
pub struct Environment(Arc<ReadVariable>);

impl Environment {
    /// Creates an environment that looks variables up with `read`.
    pub fn new(read: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// Creates an environment of fixed variables.
    pub fn of<K: Into<String>, V: Into<String>>(variables: impl IntoIterator<Item = (K, V)>) -> Self {
        let variables: BTreeMap<String, String> =
            variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self::new(move |name| variables.get(name).cloned())
    }

    /// Returns the value of a variable; `None` if it is unset or empty.
    pub fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.is_empty())
    }

    /// Returns the first of `names` that is set, with its value.
    pub fn first(&self, names: &[&'static str]) -> Option<(&'static str, String)> {
        names.iter().find_map(|name| Some((*name, self.get(name)?)))
    }
}

impl Default for Environment {
    /// An environment without variables.
    fn default() -> Self {
        Self::new(|_| None)
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment")
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
}
