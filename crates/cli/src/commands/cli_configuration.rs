//! Locates and reads the CLI configuration files, and applies the environment variables that override them.

use std::path::{Path, PathBuf};

use groma_diagnostics::Diagnostics;
use groma_install::settings::{CliConfiguration, ConfigSources, read};

use super::default_registry::default_registry;
use crate::settings::Settings;

/// Reads the CLI configuration, with its problems. `directory` is the working directory at program start.
pub(super) fn cli_configuration(settings: &Settings, directory: &Path) -> (CliConfiguration, Diagnostics) {
    let locations = ConfigSources {
        file: main_file(settings, directory),
        folder: configuration_folder(settings),
        home: settings.home.clone(),
        environment: settings.environment.texts(),
    };
    let (mut found, problems) = read(&locations, &|| default_registry(settings));
    if let Some(cache) = settings.path("TF_PLUGIN_CACHE_DIR") {
        found.plugin_cache = Some(cache);
    }
    if settings
        .variable("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE")
        .is_some_and(|text| !matches!(text, "0" | "false"))
    {
        found.cache_may_break_lock_file = true;
    }
    (found, problems)
}

/// Returns the file that `TF_CLI_CONFIG_FILE` names, else the one in the home directory if it exists.
fn main_file(settings: &Settings, directory: &Path) -> Option<PathBuf> {
    if let Some(named) = settings.path("TF_CLI_CONFIG_FILE") {
        // Relative to the directory of the program start, not to -chdir, as in Terraform.
        return Some(directory.join(named));
    }
    let home = settings.home.as_ref()?;
    [".terraformrc", ".tofurc"].iter().map(|name| home.join(name)).find(|file| file.is_file())
}

/// Returns `~/.terraform.d`, the directory of further configuration files, stored credentials and plugins.
pub(super) fn configuration_folder(settings: &Settings) -> Option<PathBuf> {
    settings.home.as_ref().map(|home| home.join(".terraform.d"))
}
