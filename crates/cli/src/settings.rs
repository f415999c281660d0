//! Settings from environment variables and the data directory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use groma_state::DamagedJournal;

use crate::environment::{Environment, account};
use crate::log::LogSettings;
use crate::terminal::Colors;
use crate::views::plan::Reader;

/// Version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Name of the workspace that always exists.
pub const DEFAULT_WORKSPACE: &str = "default";

/// Settings of one command, read once at its start.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Data directory, with installed modules and providers: `TF_DATA_DIR`, else `.terraform`.
    pub data_directory: PathBuf,
    /// Current workspace: `TF_WORKSPACE`, else the selected one, else `default`.
    pub workspace: String,
    /// Whether `TF_WORKSPACE` sets the workspace.
    pub workspace_is_overridden: bool,
    /// Kind of reader: `TF_IN_AUTOMATION`.
    pub reader: Reader,
    /// Whether prompts are allowed: `TF_INPUT`.
    pub questions: Questions,
    /// Whether colors are allowed: `NO_COLOR`.
    pub colors: Colors,
    /// Values of input variables by name: `TF_VAR_name`.
    pub variables: Vec<(String, OsString)>,
    /// Log settings: `TF_LOG` and related variables.
    pub log: LogSettings,
    /// Home directory: `HOME`, else from the user database.
    pub home: Option<PathBuf>,
    /// Default registry host of source addresses: `GROMA_REGISTRY`.
    pub registry: Option<String>,
    /// Running providers to attach to, as JSON: `TF_REATTACH_PROVIDERS`.
    pub reattach: Option<String>,
    /// Whether connections to plugin processes are unencrypted: `TF_DISABLE_PLUGIN_TLS`.
    pub plugins_in_the_clear: bool,
    /// All environment variables, for tokens, proxies and paths that are looked up on use.
    pub environment: Environment,
}

/// Whether prompts are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Questions {
    Allowed,
    /// `-input=false` or `TF_INPUT=0`.
    Forbidden,
}

impl Settings {
    /// Reads `environment`; `chosen_workspace` reads the file that records the selected workspace.
    pub fn of(environment: &Environment, chosen_workspace: impl FnOnce(&Path) -> Option<String>) -> Self {
        let get = |name: &str| environment.text(name);
        let data_directory = environment.path("TF_DATA_DIR").unwrap_or_else(|| PathBuf::from(".terraform"));
        let workspace = match get("TF_WORKSPACE") {
            Some(name) => name.to_owned(),
            None => {
                chosen_workspace(&data_directory.join("environment")).unwrap_or_else(|| DEFAULT_WORKSPACE.to_owned())
            }
        };
        // The spellings that Go accepts for false.
        let forbids_input =
            get("TF_INPUT").is_some_and(|text| matches!(text, "0" | "f" | "F" | "false" | "FALSE" | "False"));
        Self {
            workspace,
            workspace_is_overridden: get("TF_WORKSPACE").is_some(),
            // Any value counts, as in Terraform.
            reader: if get("TF_IN_AUTOMATION").is_some() { Reader::Automation } else { Reader::Person },
            questions: if forbids_input { Questions::Forbidden } else { Questions::Allowed },
            colors: if get("NO_COLOR").is_some() { Colors::Forbidden } else { Colors::Allowed },
            variables: environment.input_variables().collect(),
            log: LogSettings::of(environment),
            // USERPROFILE is the home directory on Windows.
            home: environment.path("HOME").or_else(|| environment.path("USERPROFILE")).or_else(|| account()?.home),
            registry: get("GROMA_REGISTRY").map(str::to_owned),
            reattach: get("TF_REATTACH_PROVIDERS").map(str::to_owned),
            plugins_in_the_clear: get("TF_DISABLE_PLUGIN_TLS").is_some(),
            environment: environment.clone(),
            data_directory,
        }
    }

    /// Returns the treatment of a damaged journal: `GROMA_DAMAGED_JOURNAL`.
    pub fn damaged_journal(&self) -> DamagedJournal {
        match self.variable("GROMA_DAMAGED_JOURNAL") {
            Some("recover") => DamagedJournal::Recover,
            _ => DamagedJournal::Refuse,
        }
    }

    /// Returns the value of an environment variable that holds text; `None` if it is missing or empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.text(name)
    }

    /// Returns the value of an environment variable that holds a path; `None` if it is missing or empty.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.environment.path(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Settings {
        Settings::of(&pairs.iter().copied().collect(), |_| Some("chosen".to_owned()))
    }

    #[test]
    fn reads_settings_from_environment() {
        let settings = of(&[
            ("TF_VAR_a", "1"),
            ("TF_INPUT", "0"),
            ("TF_IN_AUTOMATION", "x"),
            ("NO_COLOR", "1"),
            ("TF_DATA_DIR", "d"),
        ]);
        assert_eq!(settings.variables, [("a".to_owned(), OsString::from("1"))]);
        assert_eq!(settings.questions, Questions::Forbidden);
        assert_eq!(settings.reader, Reader::Automation);
        assert_eq!(settings.colors, Colors::Forbidden);
        assert_eq!(settings.data_directory, PathBuf::from("d"));
        assert_eq!(settings.workspace, "chosen");
    }

    #[test]
    fn ignores_empty_variables() {
        // Empty values count as missing in each kind of variable.
        let settings = of(&[("TF_IN_AUTOMATION", ""), ("TF_WORKSPACE", "w"), ("TF_LOG", "")]);
        assert_eq!(settings.reader, Reader::Person);
        assert_eq!(settings.workspace, "w");
        assert_eq!(settings.log, LogSettings::default());
    }
}
