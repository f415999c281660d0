//! The CLI configuration: credentials, sources of packages, the shared cache.

mod read;
mod text;

use std::collections::BTreeMap;
use std::path::PathBuf;

use groma_address::ProviderAddress;

use crate::credentials::Token;
use crate::discovery::Services;
use crate::providers::Method;

pub use read::read;

/// The merged content of all CLI configuration files.
#[derive(Clone, Debug, Default)]
pub struct CliConfiguration {
    /// The methods of `provider_installation` in order; none if there is no such block.
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

/// The `credentials_helper` of the CLI configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelperSetting {
    /// The NAME of `terraform-credentials-NAME`.
    pub name: String,
    /// Arguments that precede the command.
    pub arguments: Vec<String>,
}

/// The files and the environment to read.
#[derive(Clone, Debug, Default)]
pub struct ConfigSources {
    /// The main file, if any, and whether the user named it.
    pub file: Option<PathBuf>,
    /// The directory whose `*.tfrc` and `*.tfrc.json` files are read too.
    pub folder: Option<PathBuf>,
    /// The home directory, which `~` expands to.
    pub home: Option<PathBuf>,
    /// The environment, for `$NAME` in paths.
    pub environment: Vec<(String, String)>,
}
