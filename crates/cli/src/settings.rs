//! Settings: what the environment and the flags say, put together.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use groma_provider::TERRAFORM_VERSION;
use groma_state::DamagedJournal;

use crate::account::account;
use crate::environment::Environment;
use crate::log::LogSettings;
use crate::terminal::Colors;
use crate::views::plan::Reader;

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The workspace that is there without being made.
pub const DEFAULT_WORKSPACE: &str = "default";

/// The settings from environment variables.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The directory for data that can be restored: `TF_DATA_DIR`, or `.terraform`.
    pub data_directory: PathBuf,
    /// The workspace of `TF_WORKSPACE`, else the chosen one, else `default`.
    pub workspace: String,
    /// Whether `TF_WORKSPACE` decides about the workspace.
    pub workspace_is_overridden: bool,
    /// The kind of reader: `TF_IN_AUTOMATION`.
    pub reader: Reader,
    /// Whether questions may be asked: `TF_INPUT`.
    pub questions: Questions,
    /// Whether colours may be used: `NO_COLOR`.
    pub colors: Colors,
    /// Values of input variables by name: `TF_VAR_name`.
    pub variables: Vec<(String, OsString)>,
    /// The log that is wanted: `TF_LOG` and its relatives.
    pub log: LogSettings,
    /// The home directory: `HOME`, else the one of the user database.
    pub home: Option<PathBuf>,
    /// The registry of provider sources that name none: `GROMA_REGISTRY`.
    pub registry: Option<String>,
    /// Providers that run already, as JSON: `TF_REATTACH_PROVIDERS`.
    pub reattach: Option<String>,
    /// Whether plugin processes are talked to in the clear: `TF_DISABLE_PLUGIN_TLS`.
    pub plugins_in_the_clear: bool,
    /// All environment variables: tokens, proxies and paths are looked up where they are needed.
    pub environment: Environment,
}

/// Whether questions may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Questions {
    /// Prompts are allowed.
    Allowed,
    /// Prompts are forbidden: `-input=false`, `TF_INPUT=0`.
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
        let forbids_input =
            get("TF_INPUT").is_some_and(|text| matches!(text, "0" | "f" | "F" | "false" | "FALSE" | "False"));
        Self {
            workspace,
            workspace_is_overridden: get("TF_WORKSPACE").is_some(),
            reader: if get("TF_IN_AUTOMATION").is_some() { Reader::Automation } else { Reader::Person },
            questions: if forbids_input { Questions::Forbidden } else { Questions::Allowed },
            colors: if get("NO_COLOR").is_some() { Colors::Forbidden } else { Colors::Allowed },
            variables: environment.input_variables().collect(),
            log: LogSettings::of(environment),
            home: environment.path("HOME").or_else(|| environment.path("USERPROFILE")).or_else(|| account()?.home),
            registry: get("GROMA_REGISTRY").map(str::to_owned),
            reattach: get("TF_REATTACH_PROVIDERS").map(str::to_owned),
            plugins_in_the_clear: get("TF_DISABLE_PLUGIN_TLS").is_some(),
            environment: environment.clone(),
            data_directory,
        }
    }

    /// The answer to a damaged journal: `GROMA_DAMAGED_JOURNAL`.
    pub fn damaged_journal(&self) -> DamagedJournal {
        match self.variable("GROMA_DAMAGED_JOURNAL") {
            Some("recover") => DamagedJournal::Recover,
            _ => DamagedJournal::Refuse,
        }
    }

    /// The value of an environment variable that holds text; `None` when it is missing or empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.text(name)
    }

    /// The value of an environment variable that holds a path; `None` when it is missing or empty.
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
    fn the_environment_says_what_it_says() {
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
    fn empty_variables_say_nothing() {
        let settings = of(&[("TF_IN_AUTOMATION", ""), ("TF_WORKSPACE", "w"), ("TF_LOG", "")]);
        assert_eq!(settings.reader, Reader::Person);
        assert_eq!(settings.workspace, "w");
        assert_eq!(settings.log, LogSettings::default());
    }
}
