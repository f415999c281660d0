//! Storage of API tokens: a file, or a credentials helper.

use groma_diagnostics::Diagnostics;
use groma_install::credentials::{Helper, Token, TokenFile, normal_host};
use groma_install::discovery::Services;

use super::cli_configuration::configuration_folder;
use super::context::Context;
use super::outcome::fail;
use super::servers::{helper, wait};

/// Storage of the token of one host.
pub(super) struct TokenStorage {
    host: String,
    keeper: Keeper,
    is_configured: bool,
}

enum Keeper {
    File(TokenFile),
    Program(Helper),
}

/// Whether a token was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// A token was stored, or the helper does not report whether one was.
    Yes,
    No,
}

impl TokenStorage {
    /// # Errors
    /// The hostname is invalid, the configured helper is missing, or there is no home directory.
    pub fn of(context: &Context, host: &str) -> Result<Self, Diagnostics> {
        if groma_address::normal_host(host).is_none() {
            let detail = format!(
                "{host:?} is not a valid hostname. Use a name such as app.example.com or app.example.com:8443."
            );
            return Err(fail("Invalid hostname", detail));
        }
        let host = normal_host(host);
        Services::of(&host, serde_json::Map::new())
            .map_err(|problem| fail("Invalid hostname", format!("{problem}.")))?;
        let keeper = match helper(&context.settings, &context.cli)? {
            Some(program) => Keeper::Program(program),
            None => Keeper::File(TokenFile::in_folder(
                &configuration_folder(&context.settings)
                    .ok_or_else(|| fail("No directory for credentials", "The home directory is unknown. Set HOME."))?,
            )),
        };
        let is_configured = context.cli.tokens.iter().any(|(known, _)| normal_host(known) == host);
        Ok(Self { host, keeper, is_configured })
    }

    /// Returns the normalized hostname.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether the token is configured manually in the CLI configuration.
    ///
    /// # Errors
    /// The credentials file cannot be read.
    pub fn is_by_hand(&self) -> Result<bool, Diagnostics> {
        let is_ours = match &self.keeper {
            Keeper::File(file) => file.has(&self.host).map_err(|problem| unusable(&problem.to_string()))?,
            Keeper::Program(_) => false,
        };
        Ok(self.is_configured && !is_ours)
    }

    /// Returns the end of a sentence about the storage: `in the following file: ...`.
    pub fn text(&self) -> String {
        match &self.keeper {
            Keeper::File(file) => format!("in the following file:\n    {}\n", file.path().display()),
            Keeper::Program(program) => format!("by the credentials helper {:?}.\n", program.name),
        }
    }

    /// Stores the token.
    ///
    /// # Errors
    /// The file cannot be written, or the helper fails.
    pub fn store(&self, token: &Token) -> Result<(), Diagnostics> {
        match &self.keeper {
            Keeper::File(file) => file.store(&self.host, token).map_err(|problem| unusable(&problem.to_string())),
            Keeper::Program(program) => {
                wait(program.store(&self.host, token))?.map_err(|problem| unusable(&problem.to_string()))
            }
        }
    }

    /// Deletes the token.
    ///
    /// # Errors
    /// Fails like [`Self::store`].
    pub fn forget(&self) -> Result<Kept, Diagnostics> {
        match &self.keeper {
            Keeper::File(file) => {
                let failed = |problem: std::io::Error| unusable(&problem.to_string());
                if !file.has(&self.host).map_err(failed)? {
                    return Ok(Kept::No);
                }
                file.forget(&self.host).map_err(failed)?;
            }
            Keeper::Program(program) => {
                wait(program.forget(&self.host))?.map_err(|problem| unusable(&problem.to_string()))?;
            }
        }
        Ok(Kept::Yes)
    }
}

fn unusable(problem: &str) -> Diagnostics {
    fail("Failed to access stored credentials", format!("{problem}."))
}
