//! How states and plans are sealed.

use std::sync::Arc;

use groma_config::{DiskFiles, EncryptionMethods, Module, load_encryption};
use groma_diagnostics::Diagnostics;
use groma_encryption::Encryption;

use super::configuration::load_options;
use super::context::Context;

/// What the `encryption` block of `module` comes to.
///
/// # Errors
/// When it cannot be carried out: nothing is written in clear by mistake then.
pub(super) fn of(module: &Module) -> Result<EncryptionMethods, Diagnostics> {
    module.encryption.as_ref().map_or_else(|| Ok(EncryptionMethods::default()), |encryption| encryption.methods.clone())
}

/// What the configuration in this directory says, which need not be sound otherwise: for files that are read before it.
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

/// How plans are sealed in this directory.
///
/// # Errors
/// As for [`of`].
pub(super) fn of_plans_here(context: &Context) -> Result<Option<Arc<Encryption>>, Diagnostics> {
    Ok(here(context)?.and_then(|methods| methods.plan))
}

/// How states are.
///
/// # Errors
/// As for [`of`].
pub(super) fn of_states_here(context: &Context) -> Result<Option<Arc<Encryption>>, Diagnostics> {
    Ok(here(context)?.and_then(|methods| methods.state))
}
