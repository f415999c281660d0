//! The CLI configuration: credentials, sources of packages, the shared cache.

mod installation;
mod read;
mod text;
mod values;

use std::collections::BTreeMap;
use std::path::PathBuf;

use groma_address::ProviderAddress;

use crate::credentials::Token;
use crate::discovery::Services;
use crate::providers::Method;

pub use read::read;

/// The combined content of the CLI configuration files.
#[derive(Clone, Debug, Default)]
pub struct CliConfiguration {
    /// The methods of `provider_installation`, in order; none where there is no such block.
    pub methods: Option<Vec<Method>>,
    /// The folders of `dev_overrides`.
    pub overrides: BTreeMap<ProviderAddress, PathBuf>,
    /// `plugin_cache_dir`.
    pub plugin_cache: Option<PathBuf>,
    /// `plugin_cache_may_break_dependency_lock_file`.
    pub cache_may_break_lock_file: bool,
    /// `credentials "HOST" { token = … }`.
    pub tokens: Vec<(String, Token)>,
    /// `credentials_helper "NAME" { args = […] }`.
    pub helper: Option<HelperSetting>,
    /// `host "HOST" { services = {…} }`.
    pub services: Vec<Services>,
    /// `disable_checkpoint`.
    pub disable_checkpoint: bool,
}

/// A credentials helper as the configuration names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelperSetting {
    /// The NAME of `terraform-credentials-NAME`.
    pub name: String,
    /// The arguments before the command.
    pub arguments: Vec<String>,
}

/// The files to read.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The main file, if there is one to be read, and whether it was named by the user.
    pub file: Option<PathBuf>,
    /// The folder whose `*.tfrc` and `*.tfrc.json` are read as well.
    pub folder: Option<PathBuf>,
    /// The home directory, for `~`.
    pub home: Option<PathBuf>,
    /// The environment, for `$NAME` in paths.
    pub environment: Vec<(String, String)>,
}
