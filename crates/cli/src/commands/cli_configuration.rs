//! The files of the CLI configuration: where they are, and what the environment says in their place.

use std::path::{Path, PathBuf};

use groma_diagnostics::Diagnostics;
use groma_install::settings::{CliConfiguration, Places, read};

use super::default_registry::default_registry;
use crate::settings::Settings;

/// Reads the CLI configuration files, with their errors. `directory` is where the program was started.
pub(super) fn cli_configuration(settings: &Settings, directory: &Path) -> (CliConfiguration, Diagnostics) {
    let places = Places {
        file: main_file(settings, directory),
        folder: configuration_folder(settings),
        home: settings.home.clone(),
        environment: settings.environment.texts(),
    };
    let (mut found, problems) = read(&places, &|| default_registry(settings));
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

/// The file that the environment names, else the one in the home folder if it is there.
fn main_file(settings: &Settings, directory: &Path) -> Option<PathBuf> {
    if let Some(named) = settings.path("TF_CLI_CONFIG_FILE") {
        return Some(directory.join(named));
    }
    let home = settings.home.as_ref()?;
    [".terraformrc", ".tofurc"].iter().map(|name| home.join(name)).find(|file| file.is_file())
}

/// The folder with further files, with what `login` keeps, and with plugins.
pub(super) fn configuration_folder(settings: &Settings) -> Option<PathBuf> {
    settings.home.as_ref().map(|home| home.join(".terraform.d"))
}
