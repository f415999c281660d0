//! The environment variables that clients of clouds read.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// A snapshot of environment variables. `Debug` prints names only, because values may be secrets.
#[derive(Clone, Default)]
pub struct Environment {
    variables: HashMap<String, String>,
}

impl Environment {
    /// Takes a snapshot of the environment of this process without variables that are not UTF-8.
    pub fn of_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        // `std::env::vars` would panic at a variable that is not UTF-8.
        Self { variables: std::env::vars_os().filter_map(text).collect() }
    }

    /// Returns a variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns the first of several variables that is set and not empty.
    pub fn first(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.get(name))
    }

    /// Returns the home directory of the user.
    pub fn home(&self) -> Option<PathBuf> {
        self.first(&["HOME", "USERPROFILE"]).map(PathBuf::from)
    }

    /// Replaces a leading `~` by the home directory.
    pub fn expand_home(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), self.home()) {
            (Some(rest), Some(home)) => home.join(rest),
            // The form `~user/` stays unexpanded: looking up other users needs the system's database.
            _ => Path::new(path).to_owned(),
        }
    }

    /// Returns a copy with one variable set.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    /// Returns a copy without these variables.
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> Self {
        for name in names {
            self.variables.remove(*name);
        }
        self
    }

    /// Returns all variables, empty ones included.
    pub fn variables(&self) -> &HashMap<String, String> {
        &self.variables
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self { variables: variables.into_iter().collect() }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<&String> = self.variables.keys().collect();
        names.sort();
        f.debug_tuple("Environment").field(&names).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_variables_count_as_unset_and_values_stay_hidden() {
        let environment = Environment::default().with("A", "").with("B", "hush").with("HOME", "/home/me");
        assert_eq!((environment.get("A"), environment.first(&["A", "B"])), (None, Some("hush")));
        assert_eq!(environment.expand_home("~/.aws/config"), Path::new("/home/me/.aws/config"));
        assert_eq!(environment.expand_home("/x"), Path::new("/x"));
        assert_eq!(format!("{environment:?}"), r#"Environment(["A", "B", "HOME"])"#);
        assert_eq!(environment.without(&["B"]).get("B"), None);
    }
}
