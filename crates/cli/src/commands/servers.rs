//! Network access: the HTTP client, service discovery, credentials and implied local mirrors, as configured.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use groma_diagnostics::{Diagnostics, io_reason};
use groma_install::credentials::{Credentials, Helper, Stores, tokens_of_environment};
use groma_install::discovery::Discovery;
use groma_install::http::{Http, HttpOptions};
use groma_install::providers::Platform;
use groma_install::settings::CliConfiguration;

use super::cli_configuration::configuration_folder;
use super::context::Context;
use super::outcome::fail;
use crate::settings::Settings;

/// Creates the HTTP client of a command.
///
/// # Errors
/// The certificates or proxies of the system cannot be used.
pub(super) fn http(settings: &Settings) -> Result<Http, Diagnostics> {
    let number = |name: &str, otherwise: u64| {
        settings.variable(name).and_then(|text| text.parse::<u64>().ok()).unwrap_or(otherwise)
    };
    let options = HttpOptions {
        // Terraform's variables and defaults for its registry client.
        retries: u32::try_from(number("TF_REGISTRY_DISCOVERY_RETRY", 1)).unwrap_or(u32::MAX),
        // Zero would mean that every request fails.
        timeout: Duration::from_secs(number("TF_REGISTRY_CLIENT_TIMEOUT", 10).max(1)),
        ..HttpOptions::default()
    };
    Http::new(options).map_err(|error| fail("Cannot use the network", format!("{error}.")))
}

/// Creates the service discovery, with the credentials for each host.
///
/// # Errors
/// Fails like [`http`].
pub(super) fn discovery(context: &Context) -> Result<Discovery, Diagnostics> {
    let (settings, configuration) = (&context.settings, &context.cli);
    let credentials = credentials(settings, configuration);
    Ok(Discovery::new(http(settings)?, Arc::new(credentials), configuration.services.clone()))
}

/// Returns the credentials, in order of precedence: environment variables, CLI configuration files, credentials helper. A missing
/// helper is only an error for a host that requires a token; public registries do not.
pub(super) fn credentials(settings: &Settings, configuration: &CliConfiguration) -> Credentials {
    let environment = settings.environment.texts();
    let tokens = tokens_of_environment(&environment).into_iter().chain(configuration.tokens.iter().cloned());
    let stores = Stores::new(environment, settings.home.clone());
    // Public registries work without a helper, so its absence is only remembered.
    match found_helper(settings, configuration) {
        Ok(helper) => Credentials::new(tokens, helper).with_stores(stores),
        Err(lacking) => Credentials::new(tokens, None).with_stores(stores).lacking_helper(lacking),
    }
}

/// Returns the configured credentials helper.
///
/// # Errors
/// The helper is in none of the plugin directories.
pub(super) fn helper(settings: &Settings, configuration: &CliConfiguration) -> Result<Option<Helper>, Diagnostics> {
    found_helper(settings, configuration).map_err(|lacking| fail("Credentials helper not found", lacking))
}

fn found_helper(settings: &Settings, configuration: &CliConfiguration) -> Result<Option<Helper>, String> {
    let Some(setting) = &configuration.helper else { return Ok(None) };
    let (name, file) = (&setting.name, format!("terraform-credentials-{}", setting.name));
    let program = plugin_folders(settings).into_iter().map(|folder| folder.join(&file)).find(|path| path.is_file());
    let program = program.ok_or_else(|| {
        format!("The CLI configuration uses the credentials helper {name:?}, but the executable {file} is in none of the plugin directories.")
    })?;
    Ok(Some(Helper { name: name.clone(), program, arguments: setting.arguments.clone() }))
}

fn plugin_folders(settings: &Settings) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    // The platform directory is more specific, so it comes first.
    if let Some(plugins) = configuration_folder(settings).map(|folder| folder.join("plugins")) {
        folders.push(plugins.join(Platform::current().to_string()));
        folders.push(plugins);
    }
    // Helpers may be installed next to the program.
    if let Some(program_folder) = std::env::current_exe().ok().and_then(|path| path.parent().map(Path::to_owned)) {
        folders.push(program_folder);
    }
    folders
}

/// Returns the existing directories that are searched for provider packages by default.
pub(super) fn implied_mirrors(settings: &Settings) -> Vec<PathBuf> {
    // Terraform's order: the working directory, the home directory, then the data directories of the system.
    let mut folders = vec![PathBuf::from("terraform.d/plugins")];
    folders.extend(configuration_folder(settings).map(|folder| folder.join("plugins")));
    let data = settings.path("XDG_DATA_HOME");
    folders.extend(
        data.or_else(|| settings.home.as_ref().map(|home| home.join(".local/share")))
            .map(|data| data.join("terraform/plugins")),
    );
    let shared = settings.path("XDG_DATA_DIRS").unwrap_or_else(|| PathBuf::from("/usr/local/share:/usr/share"));
    folders.extend(std::env::split_paths(&shared).map(|folder| folder.join("terraform/plugins")));
    // Missing directories are normal, and reading them would be an error.
    folders.retain(|folder| folder.is_dir());
    folders
}

/// Runs a future to completion.
///
/// # Errors
/// The async runtime cannot be started.
pub(super) fn wait<T>(work: impl Future<Output = T>) -> Result<T, Diagnostics> {
    // Each call gets a runtime of its own, so that no command needs one before it uses the network.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|problem| {
        fail("Cannot start the async runtime", format!("{problem}.", problem = io_reason(&problem)))
    })?;
    Ok(runtime.block_on(work))
}
