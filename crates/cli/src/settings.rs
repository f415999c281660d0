//! Settings: what the environment and the flags say, put together.

use std::path::PathBuf;

pub use groma_provider::TERRAFORM_VERSION;

use crate::terminal::Colors;
use crate::views::plan::Reader;

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The workspace that is there without being made.
pub const DEFAULT_WORKSPACE: &str = "default";

/// What the environment says.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the program keeps what it can make again: `TF_DATA_DIR`, else `.terraform`.
    pub data_directory: PathBuf,
    /// The workspace of `TF_WORKSPACE`, else the chosen one, else `default`.
    pub workspace: String,
    /// Whether `TF_WORKSPACE` decides about the workspace.
    pub workspace_is_overridden: bool,
    /// Who reads: `TF_IN_AUTOMATION`.
    pub reader: Reader,
    /// Whether questions may be asked: `TF_INPUT`.
    pub questions: Questions,
    /// Whether colours may be used: `NO_COLOR`.
    pub colors: Colors,
    /// Values of variables: `TF_VAR_name`.
    pub variables: Vec<(String, String)>,
    /// Where a log is wanted.
    pub log: Option<LogSettings>,
    /// What `~` stands for.
    pub home: Option<PathBuf>,
    /// The registry of provider sources that name none: `GROMA_REGISTRY`.
    pub registry: Option<String>,
    /// Providers that run already, as JSON: `TF_REATTACH_PROVIDERS`.
    pub reattach: Option<String>,
    /// Whether plugin processes are talked to in the clear: `TF_DISABLE_PLUGIN_TLS`.
    pub plugins_in_the_clear: bool,
    /// All of it: tokens, proxies and paths are looked up where they are needed.
    pub environment: Vec<(String, String)>,
}

/// Whether questions may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Questions {
    /// They may.
    Allowed,
    /// They may not: `-input=false`, `TF_INPUT=0`.
    Forbidden,
}

/// What to log, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// `TRACE`, `DEBUG`, `INFO`, `WARN` or `ERROR`.
    pub level: String,
    /// The file to append to; standard error without one: `TF_LOG_PATH`.
    pub path: Option<PathBuf>,
}

impl Settings {
    /// Reads the environment, handed in as pairs; `chosen_workspace` reads the file that says which workspace was selected.
    pub fn of(
        environment: &[(String, String)],
        chosen_workspace: impl FnOnce(&std::path::Path) -> Option<String>,
    ) -> Self {
        let get = |name: &str| {
            environment
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.as_str())
                .filter(|value| !value.is_empty())
        };
        let data_directory = PathBuf::from(get("TF_DATA_DIR").unwrap_or(".terraform"));
        let workspace = match get("TF_WORKSPACE") {
            Some(name) => name.to_owned(),
            None => {
                chosen_workspace(&data_directory.join("environment")).unwrap_or_else(|| DEFAULT_WORKSPACE.to_owned())
            }
        };
        let forbids_input =
            get("TF_INPUT").is_some_and(|text| matches!(text, "0" | "f" | "F" | "false" | "FALSE" | "False"));
        let log = get("TF_LOG").filter(|level| !level.eq_ignore_ascii_case("off"));
        let variables = environment
            .iter()
            .filter_map(|(key, value)| Some((key.strip_prefix("TF_VAR_")?.to_owned(), value.clone())));
        Self {
            workspace,
            workspace_is_overridden: get("TF_WORKSPACE").is_some(),
            reader: if get("TF_IN_AUTOMATION").is_some() { Reader::Automation } else { Reader::Person },
            questions: if forbids_input { Questions::Forbidden } else { Questions::Allowed },
            colors: if get("NO_COLOR").is_some() { Colors::Forbidden } else { Colors::Allowed },
            variables: variables.collect(),
            log: log.map(|level| LogSettings {
                level: level.to_ascii_uppercase(),
                path: get("TF_LOG_PATH").map(PathBuf::from),
            }),
            home: get("HOME").or_else(|| get("USERPROFILE")).map(PathBuf::from),
            registry: get("GROMA_REGISTRY").map(str::to_owned),
            reattach: get("TF_REATTACH_PROVIDERS").map(str::to_owned),
            plugins_in_the_clear: get("TF_DISABLE_PLUGIN_TLS").is_some(),
            environment: environment.to_vec(),
            data_directory,
        }
    }
}

impl Settings {
    /// A variable of the environment; an empty one says nothing.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let found = self.environment.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Settings {
        let pairs: Vec<_> = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Settings::of(&pairs, |_| Some("chosen".to_owned()))
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
        assert_eq!(settings.variables, [("a".to_owned(), "1".to_owned())]);
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
        assert_eq!(settings.log, None);
    }
}
