//! Environment variables of the process, and the account that replaces `HOME` and `USER`.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use groma_diagnostics::{Diagnostic, Diagnostics};

/// Prefix of the environment variables that set input variables.
pub const VARIABLE_PREFIX: &str = "TF_VAR_";

/// Environment variables that hold a path, which need not be valid UTF-8.
const PATHS: [&str; 4] = ["TF_CLI_CONFIG_FILE", "TF_DATA_DIR", "TF_LOG_PATH", "TF_PLUGIN_CACHE_DIR"];

/// Prefixes of variables for this program alone: a value that is not valid UTF-8 is an error.
const OWN: [&str; 2] = ["TF_", "GROMA_"];

/// Prefixes of variables shared with other programs: a value that is not valid UTF-8 is a warning.
const SHARED: [&str; 13] = [
    "AWS_",
    "AZURE_",
    "ARM_",
    "CLOUDSDK_",
    "CONSUL_",
    "GCE_",
    "GOOGLE_",
    "KUBE_",
    "KUBERNETES_",
    "OCI_",
    "PG",
    "STORAGE_EMULATOR_",
    "TENCENTCLOUD_",
];

/// Environment variables of the process, as bytes.
///
/// A value need not be valid UTF-8. [`Environment::text`] only returns values that are; [`Environment::problems`] reports the
/// others, so that no value is ignored silently.
#[derive(Clone, Debug, Default)]
pub struct Environment(Vec<(String, OsString)>);

impl Environment {
    /// Returns the environment of this process. Variables whose names are not valid UTF-8 are skipped, because none of them is ever
    /// read.
    pub fn of_process() -> Self {
        Self(std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect())
    }

    /// Returns the value of a variable that holds text; `None` if it is missing, empty or not valid UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.value(name)?.to_str()
    }

    /// Returns the value of a variable that holds a path; `None` if it is missing or empty.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.value(name).map(PathBuf::from)
    }

    /// Returns the values of input variables (`TF_VAR_name`), by the name of the input variable.
    pub fn input_variables(&self) -> impl Iterator<Item = (String, OsString)> + '_ {
        self.0.iter().filter_map(|(name, value)| Some((name.strip_prefix(VARIABLE_PREFIX)?.to_owned(), value.clone())))
    }

    /// Returns all variables whose values are valid UTF-8.
    pub fn texts(&self) -> Vec<(String, String)> {
        let texts = self.0.iter().filter_map(|(name, value)| Some((name.clone(), value.to_str()?.to_owned())));
        texts.collect()
    }

    /// Reports the variables that the program reads and whose values are not valid UTF-8: its own as errors, those that it
    /// shares with other programs as warnings. Values of input variables are reported when the variable is known.
    pub fn problems(&self) -> Diagnostics {
        self.0.iter().filter(|(_, value)| value.to_str().is_none()).filter_map(|(name, _)| unreadable(name)).collect()
    }

    fn value(&self, name: &str) -> Option<&OsStr> {
        let found = self.0.iter().find(|(known, _)| known == name);
        // An empty variable counts as missing, as scripts pass empty variables.
        found.map(|(_, value)| value.as_os_str()).filter(|value| !value.is_empty())
    }
}

impl<N: Into<String>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// Returns the problem with the variable `name`, whose value is not valid UTF-8; `None` if the variable does not matter.
fn unreadable(name: &str) -> Option<Diagnostic> {
    const SUMMARY: &str = "Invalid environment variable";
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    // Input variables are reported once their names are known to be declared, and paths may be any bytes.
    if name.starts_with(VARIABLE_PREFIX) || PATHS.contains(&name) {
        return None;
    }
    if begins(&OWN) {
        let detail = format!("The value of {name} is not valid UTF-8. Correct it, or unset {name}.");
        return Some(Diagnostic::error(SUMMARY, detail));
    }
    begins(&SHARED).then(|| {
        let detail = format!("The value of {name} is not valid UTF-8, so {name} is ignored.");
        Diagnostic::warning(SUMMARY, detail)
    })
}

/// Entry of the user database.
pub struct Account {
    /// Login name of the user.
    pub name: String,
    /// Home directory, if the entry has one.
    pub home: Option<PathBuf>,
}

/// Returns the account of the process; `None` if the database does not contain its user ID, as in containers that run with an
/// arbitrary one.
#[cfg(unix)]
pub fn account() -> Option<Account> {
    use nix::unistd::{Uid, User};
    // An entry that cannot be read is treated like a missing one: the environment variables may suffice.
    let user = User::from_uid(Uid::current()).ok().flatten()?;
    let home = (!user.dir.as_os_str().is_empty()).then_some(user.dir);
    Some(Account { name: user.name, home })
}

/// Returns `None`: other systems always set the environment variables.
#[cfg(not(unix))]
pub fn account() -> Option<Account> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn environment(names: &[&str]) -> Environment {
        names.iter().map(|name| (*name, OsString::from_vec(b"a\xff".to_vec()))).collect()
    }

    #[test]
    fn reports_values_that_are_not_utf_8() {
        // EDITOR is neither of this program nor shared with it, so its value does not matter.
        let problems = environment(&["TF_WORKSPACE", "AWS_PROFILE", "EDITOR"]).problems();
        let reported: Vec<_> = problems.iter().map(|problem| (problem.is_error(), problem.detail.as_str())).collect();
        assert_eq!(
            reported,
            [
                (true, "The value of TF_WORKSPACE is not valid UTF-8. Correct it, or unset TF_WORKSPACE."),
                (false, "The value of AWS_PROFILE is not valid UTF-8, so AWS_PROFILE is ignored."),
            ]
        );
    }

    #[test]
    fn paths_need_not_be_utf_8() {
        let environment = environment(&["TF_DATA_DIR"]);
        assert!(environment.problems().is_empty());
        assert_eq!(environment.path("TF_DATA_DIR"), Some(PathBuf::from(OsString::from_vec(b"a\xff".to_vec()))));
        assert_eq!(environment.text("TF_DATA_DIR"), None);
    }
}
