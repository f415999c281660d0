//! Storage of a host's token: in a file, or by a credentials helper.

use groma_diagnostics::Diagnostics;
use groma_install::credentials::{Helper, Token, TokenFile, normal_host};
use groma_install::discovery::Services;

use super::cli_configuration::configuration_folder;
use super::context::Context;
use super::outcome::fail;
use super::servers::{helper, wait};

/// The storage of one host's token.
pub(super) struct TokenPlace {
    host: String,
    keeper: Keeper,
    is_configured: bool,
}

enum Keeper {
    File(TokenFile),
    Program(Helper),
}

/// Whether there was a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// There was, as far as is known.
    Yes,
    /// No token was stored.
    No,
}

impl TokenPlace {
    /// # Errors
    /// `host` is no name of a host, the helper of the CLI configuration is missing, or there is no home folder.
    pub fn of(context: &Context, host: &str) -> Result<Self, Diagnostics> {
        if groma_address::normal_host(host).is_none() {
            let detail = format!(
                "{host:?} is no name of a host. Write one such as app.example.com, with a colon and a port after it if need be."
            );
            return Err(fail("Invalid hostname", detail));
        }
        let host = normal_host(host);
        Services::of(&host, serde_json::Map::new())
            .map_err(|problem| fail("Invalid hostname", format!("The host cannot be asked: {problem}.")))?;
        let keeper = match helper(&context.settings, &context.cli)? {
            Some(program) => Keeper::Program(program),
            None => Keeper::File(TokenFile::in_folder(
                &configuration_folder(&context.settings)
                    .ok_or_else(|| fail("No place for credentials", "There is no home folder: set HOME."))?,
            )),
        };
        let is_configured = context.cli.tokens.iter().any(|(known, _)| normal_host(known) == host);
        Ok(Self { host, keeper, is_configured })
    }

    /// The host, as credentials are kept for it.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether a person has written the token into a file of the CLI configuration.
    ///
    /// # Errors
    /// The file of tokens cannot be read.
    pub fn is_by_hand(&self) -> Result<bool, Diagnostics> {
        let is_ours = match &self.keeper {
            Keeper::File(file) => file.has(&self.host).map_err(|problem| unusable(&problem.to_string()))?,
            Keeper::Program(_) => false,
        };
        Ok(self.is_configured && !is_ours)
    }

    /// The end of a sentence: where the token is kept.
    pub fn text(&self) -> String {
        match &self.keeper {
            Keeper::File(file) => format!("in the following file:\n    {}\n", file.path().display()),
            Keeper::Program(program) => format!("by the credentials helper {:?}.\n", program.name),
        }
    }

    /// Stores the token of the host.
    ///
    /// # Errors
    /// The file cannot be written, or the program fails.
    pub fn store(&self, token: &Token) -> Result<(), Diagnostics> {
        match &self.keeper {
            Keeper::File(file) => file.store(&self.host, token).map_err(|problem| unusable(&problem.to_string())),
            Keeper::Program(program) => {
                wait(program.store(&self.host, token))?.map_err(|problem| unusable(&problem.to_string()))
            }
        }
    }

    /// Removes the token of the host.
    ///
    /// # Errors
    /// As [`Self::store`].
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
    fail("Credentials cannot be kept", format!("{problem}."))
}
