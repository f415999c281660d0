//! Encryption settings for states and plans.

use std::sync::Arc;

use groma_config::{DiskFiles, EncryptionMethods, Module, load_encryption};
use groma_diagnostics::Diagnostics;
use groma_encryption::Encryption;

use super::configuration::load_options;
use super::context::Context;

/// Returns the encryption methods of the `encryption` block of `module`.
///
/// # Errors
/// When it cannot be carried out: nothing is written in clear by mistake then.
pub(super) fn of(module: &Module) -> Result<EncryptionMethods, Diagnostics> {
    module.encryption.as_ref().map_or_else(|| Ok(EncryptionMethods::default()), |encryption| encryption.methods.clone())
}

/// Returns the encryption settings in this directory, for files that are read before the configuration is loaded completely.
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

/// Returns the encryption of plan files in this directory.
///
/// # Errors
/// As for [`of`].
pub(super) fn of_plans_here(context: &Context) -> Result<Option<Arc<Encryption>>, Diagnostics> {
    Ok(here(context)?.and_then(|methods| methods.plan))
}

/// Returns the encryption of states in this directory.
///
/// # Errors
/// As for [`of`].
pub(super) fn of_states_here(context: &Context) -> Result<Option<Arc<Encryption>>, Diagnostics> {
    Ok(here(context)?.and_then(|methods| methods.state))
}
