//! Locates and reads the CLI configuration files, and applies what overrides or completes them: environment variables, and the
//! default registry of sources without a hostname.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use groma_address::{DEFAULT_PROVIDER_HOST, OPENTOFU_PROVIDER_HOST};
use groma_diagnostics::Diagnostics;
use groma_install::settings::{CliConfiguration, ConfigSources, read};

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
    // The environment variable overrides the file, as in Terraform.
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

/// Returns the default registry host: the configured one, else OpenTofu's if OpenTofu has been used in this directory, else
/// Terraform's.
pub(super) fn default_registry(settings: &Settings) -> String {
    if let Some(host) = &settings.registry {
        return host.clone();
    }
    // Both files name the registry of the program that wrote them.
    let has_worked = [".terraform.lock.hcl", "terraform.tfstate"]
        .iter()
        .any(|file| begins_with_mention(Path::new(file), OPENTOFU_PROVIDER_HOST));
    if has_worked { OPENTOFU_PROVIDER_HOST.to_owned() } else { DEFAULT_PROVIDER_HOST.to_owned() }
}

/// Whether the beginning of a file contains `text`. States list providers early, so the beginning of a large state is enough.
fn begins_with_mention(file: &Path, text: &str) -> bool {
    const BEGINNING: u64 = 1 << 18;
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|file| file.take(BEGINNING).read_to_end(&mut bytes));
    // Compared as bytes: the file may be encrypted or not UTF-8.
    read.is_ok() && bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
