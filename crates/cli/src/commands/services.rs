//! What hosts offer, for those who have no other use for the CLI configuration.

use groma_diagnostics::Diagnostics;
use groma_install::discovery::Discovery;

use super::context::Context;
use super::servers;

/// What hosts offer, as the settings and the network say.
///
/// # Errors
/// The CLI configuration is wrong, or the HTTP client cannot be made.
pub(super) fn discovery(context: &Context) -> Result<Discovery, Diagnostics> {
    servers::discovery(context, &servers::cli_configuration(context)?)
}
