//! State and plan encryption of the working directory, and its key services.

use std::sync::Arc;

use groma_cloud::Environment;
use groma_config::{DiskFiles, EncryptionMethods, Module, load_encryption};
use groma_diagnostics::Diagnostics;
use groma_encryption::Encryption;
use groma_key_services::CloudKeyServices;

use super::configuration::load_options;
use super::context::Context;
use crate::settings::Settings;

/// Returns the encryption methods that the `encryption` block of `module` configures.
///
/// # Errors
/// A method cannot be set up. Failing here ensures that nothing is written in plain text by mistake.
pub(super) fn of(module: &Module) -> Result<EncryptionMethods, Diagnostics> {
    module.encryption.as_ref().map_or_else(|| Ok(EncryptionMethods::default()), |encryption| encryption.methods.clone())
}

/// Returns the encryption methods of the working directory, whose configuration may have other errors: for files that are read
/// before the configuration.
///
/// # Errors
/// As for [`of`].
pub(super) fn here(context: &Context) -> Result<Option<EncryptionMethods>, Diagnostics> {
    let (encryption, problems) = load_encryption(&load_options(context), &context.sources, &DiskFiles::new("."));
    match encryption {
        Some(encryption) => encryption.methods.map(Some),
        None if problems.has_errors() => Err(problems),
        None => Ok(None),
    }
}

/// Returns the plan encryption of the working directory.
///
/// # Errors
/// As for [`of`].
pub(super) fn of_plans_here(context: &Context) -> Result<Option<Arc<Encryption>>, Diagnostics> {
    Ok(here(context)?.and_then(|methods| methods.plan))
}

/// Returns the state encryption of the working directory.
///
/// # Errors
/// As for [`of`].
pub(super) fn of_states_here(context: &Context) -> Result<Option<Arc<Encryption>>, Diagnostics> {
    Ok(here(context)?.and_then(|methods| methods.state))
}

/// Returns the key services, which read their settings in the environment of this run.
pub(super) fn key_services(settings: &Settings) -> CloudKeyServices {
    CloudKeyServices::new(environment(settings))
}

/// Returns the environment for clients of clouds.
pub(super) fn environment(settings: &Settings) -> Environment {
    let environment: Environment = settings.environment.texts().into_iter().collect();
    // The home directory may come from the user database, but cloud clients look for their files in HOME.
    match &settings.home {
        Some(home) => environment.with("HOME", home.to_string_lossy()),
        None => environment,
    }
}
