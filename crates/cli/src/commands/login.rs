//! `login` and `logout`: obtain an API token from a host, store it in a file or with a credentials helper, and delete it.

use std::process::{Command, Stdio};
use std::time::Duration;

use groma_diagnostics::{Diagnostics, io_reason};
use groma_install::credentials::{Helper, Token, TokenFile, normal_host};
use groma_install::discovery::{Discovery, Services};
use groma_install::http::Url;
use groma_install::login::{LoginAttempt, OauthClient};
use serde_json::Value;

use super::cli_configuration::configuration_folder;
use super::context::Context;
use super::outcome::{Outcome, fail};
use super::servers::{discovery, helper, wait};
use crate::arguments::Login;
use crate::settings::Settings;
use crate::terminal::{Answer, Hidden, Tone};

/// Maximum size of the response with the account details, in bytes.
const MAX_RESPONSE: u64 = 1 << 20;

/// Interval of checking for an interrupt.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Method by which the host issues tokens.
enum LoginMethod {
    /// OAuth in a browser.
    Browser(OauthClient),
    /// The user creates the token on a web page of the host and pastes it. The URL is that of the API.
    Manual(Url),
}

pub(super) fn run(context: &mut Context, arguments: &Login) -> Outcome {
    context.configure_view(&arguments.view);
    let storage = TokenStorage::of(context, &arguments.host)?;
    let host = storage.host().to_owned();
    let discovery = discovery(context)?;
    let services = wait(discovery.services(&host))?
        .map_err(|problem| fail(&format!("Service discovery failed for {host}"), format!("{problem}.")))?;
    // Checked before the login: a stored token would have no effect.
    if storage.is_by_hand()? {
        return Err(fail(
            &format!("Credentials for {host} are manually configured"),
            "The CLI configuration contains a token for this host, which overrides the stored one. To log in, remove the credentials block \
             from the CLI configuration.",
        ));
    }
    let method = login_method(&services, &host)?;
    // Asked first, because the token is stored in plain text.
    consent(context, &host, &method, &storage)?;
    let token = match &method {
        LoginMethod::Browser(client) => through_browser(context, &discovery, &host, client)?,
        LoginMethod::Manual(api) => manual(context, &discovery, &host, api)?,
    };
    storage.store(&token)?;
    let success = context.palette().paint(Tone::BoldGreen, "Success!").to_string();
    context.streams.print(&format!(
        "\n{success} The API token for {host} was obtained. Commands send it with their requests to this host.\n\nThe token is stored {}\n",
        storage.text()
    ));
    Ok(0)
}

fn login_method(services: &Services, host: &str) -> Result<LoginMethod, Diagnostics> {
    let invalid = |problem| fail("Invalid login service description", format!("{problem}."));
    // login.v1 is preferred, because the token never passes through the clipboard.
    if let Some(client) = OauthClient::of(services).map_err(invalid)? {
        return Ok(LoginMethod::Browser(client));
    }
    services.url("tfe.v2").map(LoginMethod::Manual).map_err(|_| {
        let detail =
            format!("The host {host} offers neither of the services login.v1 and tfe.v2, so it cannot issue tokens.");
        fail("Host does not support Terraform tokens API", detail)
    })
}

fn consent(context: &mut Context, host: &str, method: &LoginMethod, storage: &TokenStorage) -> Result<(), Diagnostics> {
    let product = context.wording.product;
    let how = match method {
        LoginMethod::Browser(_) => "using OAuth in a browser on this computer",
        LoginMethod::Manual(_) => "using a browser, on a web page of the host that shows the token",
    };
    context.streams.print(&format!(
        "{product} will request an API token for {host}, {how}.\n\nThe token will be stored in plain text {}\n",
        storage.text()
    ));
    match context.prompter()?.ask("Do you want to proceed?", "Only 'yes' will be accepted to confirm.") {
        // Only the exact word consents, as in `apply`.
        Answer::Line(line) if line == "yes" => Ok(()),
        Answer::Line(_) | Answer::NotUtf8 | Answer::Interrupted => Err(fail("Login cancelled", "")),
        Answer::End => Err(no_input()),
    }
}

fn no_input() -> Diagnostics {
    fail("Login requires interactive input", "Standard input ended before an answer was given.")
}

fn through_browser(
    context: &mut Context,
    discovery: &Discovery,
    host: &str,
    client: &OauthClient,
) -> Result<Token, Diagnostics> {
    let interrupts = context.interrupts()?;
    let failed = |problem| fail("Failed to obtain an API token", format!("The login to {host} failed: {problem}."));
    // The future below must not hold a mutable borrow.
    let context = &*context;
    wait(async move {
        let attempt = LoginAttempt::begin(client.clone()).await.map_err(failed)?;
        show_page(context, host, &attempt.page());
        // Interrupts are observed from here on, while the program waits for the browser.
        let notices = interrupts.notices();
        let interrupted = async {
            while notices.try_recv().is_err() {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        };
        tokio::select! {
            token = attempt.finish(discovery.http()) => token.map_err(failed),
            () = interrupted => Err(fail("Login cancelled", "")),
        }
    })?
}

fn show_page(context: &Context, host: &str, page: &Url) {
    // Without a terminal nobody may be sitting at the computer, so no browser is opened.
    let is_open = context.streams.input_is_terminal && open(&context.settings, page);
    let what = if is_open { "If no browser opens, open" } else { "Open" };
    context.streams.print(&format!(
        "\n{what} this page of {host} to log in:\n    {page}\n\nWaiting for the login to complete...\n"
    ));
}

fn manual(context: &mut Context, discovery: &Discovery, host: &str, api: &Url) -> Result<Token, Diagnostics> {
    // The page of HCP Terraform and Terraform Enterprise, to which `source` says where the user came from.
    let page = Url::parse(&format!("https://{host}/app/settings/tokens?source=terraform-login"));
    let page = page.map_err(|problem| fail("Invalid hostname", format!("{problem}.")))?;
    let is_open = context.streams.input_is_terminal && open(&context.settings, &page);
    let what = if is_open { "If no browser opens, create" } else { "Create" };
    context.streams.print(&format!("\n{what} a token on this page:\n    {page}\n\n"));
    let prompter = context.prompter()?;
    let answer = {
        // The guard only lives during this prompt.
        let _hidden = Hidden::begin();
        prompter.ask(&format!("Token for {host}:"), "")
    };
    let token = match answer {
        Answer::Line(line) if !line.trim().is_empty() => Token::new(line.trim()),
        Answer::Line(_) | Answer::NotUtf8 | Answer::Interrupted => return Err(fail("Login cancelled", "")),
        Answer::End => return Err(no_input()),
    };
    // A mistyped token is detected now rather than by the next command.
    let url = api.join("account/details").map_err(|problem| fail("Token not usable", format!("{problem}.")))?;
    let answer = wait(discovery.http().get(&url, Some(&token), MAX_RESPONSE))?;
    let answer = answer.map_err(|problem| fail("Token not usable", format!("{problem}.")))?;
    if !answer.status.is_success() {
        return Err(fail(
            "Token is invalid",
            format!("The host {host} rejected the token with status {}.", answer.status),
        ));
    }
    let account: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    // The name only confirms that it is the right account, so a response without it is accepted.
    if let Some(name) = account.pointer("/data/attributes/username").and_then(Value::as_str) {
        context.streams.print(&format!("\nRetrieved token for user {name}\n"));
    }
    Ok(token)
}

pub(super) fn logout(context: &mut Context, arguments: &Login) -> Outcome {
    context.configure_view(&arguments.view);
    let storage = TokenStorage::of(context, &arguments.host)?;
    let host = storage.host().to_owned();
    // Deleting the stored token would not log out.
    if storage.is_by_hand()? {
        return Err(fail(
            &format!("Credentials for {host} are manually configured"),
            "The CLI configuration contains the token. To log out, remove the credentials block from it.",
        ));
    }
    if storage.forget()? == Kept::No {
        context.streams.print(&format!("No credentials for {host} are stored.\n"));
        return Ok(0);
    }
    let success = context.palette().paint(Tone::BoldGreen, "Success!").to_string();
    let text = storage.text();
    context.streams.print(&format!(
        "{success} Removed the stored API token for {host}. It was stored {text}\nThe token remains valid until it is revoked on the \
        host.\n"
    ));
    Ok(0)
}

/// Opens `page` in the user's browser; returns whether a browser could be started.
pub(super) fn open(settings: &Settings, page: &Url) -> bool {
    // BROWSER is the convention of Unix desktops for the user's choice.
    let chosen = settings.path("BROWSER");
    let usual = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let program = chosen.unwrap_or_else(|| usual.into());
    let mut command = Command::new(program);
    // Browsers print warnings, which must not mix with our output.
    command.arg(page.as_str()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}

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
        // A name can be valid in an address and still not in a URL, which the services are built from.
        Services::of(&host, serde_json::Map::new())
            .map_err(|problem| fail("Invalid hostname", format!("{problem}.")))?;
        let keeper = match helper(&context.settings, &context.cli)? {
            Some(program) => Keeper::Program(program),
            None => Keeper::File(TokenFile::in_folder(
                &configuration_folder(&context.settings)
                    .ok_or_else(|| fail("No directory for credentials", "The home directory is unknown. Set HOME."))?,
            )),
        };
        // Both names are normalized: hostnames are case-insensitive and may be in Punycode.
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
            Keeper::File(file) => file.has(&self.host).map_err(|problem| unusable(&io_reason(&problem)))?,
            // Tokens of a helper never appear in the CLI configuration.
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
            Keeper::File(file) => file.store(&self.host, token).map_err(|problem| unusable(&io_reason(&problem))),
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
                let failed = |problem: std::io::Error| unusable(&io_reason(&problem));
                if !file.has(&self.host).map_err(failed)? {
                    return Ok(Kept::No);
                }
                file.forget(&self.host).map_err(failed)?;
            }
            // Helpers do not report whether they had a token.
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
