//! `login`: a token from a host, kept for later.

use std::time::Duration;

use groma_diagnostics::Diagnostics;
use groma_install::credentials::Token;
use groma_install::discovery::{Discovery, Services};
use groma_install::http::Url;
use groma_install::login::{Attempt, OauthClient};
use serde_json::Value;

use super::browser;
use super::context::Context;
use super::outcome::{Outcome, fail};
use super::servers::{discovery, wait};
use super::token_place::TokenPlace;
use crate::arguments::Login;
use crate::terminal::{Answer, Hidden, Tone};

/// Maximal length of a host's answer about an account.
const LARGEST_ANSWER: u64 = 1 << 20;

/// Interval of checks for an interrupt.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// The way in which the host issues tokens.
enum Way {
    Browser(OauthClient),
    /// The user makes the token on a page of the host; the address is that of its API.
    ByHand(Url),
}

pub(super) fn run(context: &mut Context, arguments: &Login) -> Outcome {
    context.view(&arguments.view);
    let place = TokenPlace::of(context, &arguments.host)?;
    let host = place.host().to_owned();
    let discovery = discovery(context)?;
    let services = wait(discovery.services(&host))?
        .map_err(|problem| fail(&format!("Service discovery failed for {host}"), format!("{problem}.")))?;
    if place.is_by_hand()? {
        return Err(fail(
            &format!("Credentials for {host} are manually configured"),
            "A file of the CLI configuration has a token for this host, which counts more than one that login would keep. Take the credentials \
             block out of the file to log in.",
        ));
    }
    let way = way(&services, &host)?;
    consent(context, &host, &way, &place)?;
    let token = match &way {
        Way::Browser(client) => through_browser(context, &discovery, &host, client)?,
        Way::ByHand(api) => by_hand(context, &discovery, &host, api)?,
    };
    place.store(&token)?;
    let success = context.palette().paint(Tone::BoldGreen, "Success!").to_string();
    context.streams.print(&format!(
        "\n{success} There is a token for {host} now; every command that asks this host for something sends it.\n\nIt is kept {}\n",
        place.text()
    ));
    Ok(0)
}

fn way(services: &Services, host: &str) -> Result<Way, Diagnostics> {
    let wrong = |problem| fail("Host describes its login wrongly", format!("{problem}."));
    if let Some(client) = OauthClient::of(services).map_err(wrong)? {
        return Ok(Way::Browser(client));
    }
    services.url("tfe.v2").map(Way::ByHand).map_err(|_| {
        let detail =
            format!("The host {host} offers neither login.v1 nor tfe.v2, so there is no way to get a token from it.");
        fail("Host does not support Terraform tokens API", detail)
    })
}

fn consent(context: &mut Context, host: &str, way: &Way, place: &TokenPlace) -> Result<(), Diagnostics> {
    let product = &context.wording.product;
    let how = match way {
        Way::Browser(_) => "with a browser on this computer, by OAuth",
        Way::ByHand(_) => "with a browser, on a page of the host that shows the token",
    };
    context.streams.print(&format!(
        "{product} will ask {host} for an API token, {how}.\n\nThe token will be kept, in plain text, {}\n",
        place.text()
    ));
    match context.prompter()?.ask("Do you want to proceed?", "Only 'yes' will be accepted to confirm.") {
        Answer::Line(line) if line == "yes" => Ok(()),
        Answer::Line(_) | Answer::NotUtf8 | Answer::Interrupted => Err(fail("Login cancelled", "")),
        Answer::End => Err(no_input()),
    }
}

fn no_input() -> Diagnostics {
    fail("Login needs somebody to answer", "The input ended before there was an answer.")
}

fn through_browser(
    context: &mut Context,
    discovery: &Discovery,
    host: &str,
    client: &OauthClient,
) -> Result<Token, Diagnostics> {
    let interrupts = context.interrupts()?;
    let failed = |problem| fail("Failed to obtain an API token", format!("The login at {host} failed: {problem}."));
    let context = &*context;
    wait(async move {
        let attempt = Attempt::begin(client.clone()).await.map_err(failed)?;
        show_page(context, host, &attempt.page());
        let notices = interrupts.notices();
        let interrupted = async {
            while notices.try_recv().is_err() {
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
        };
        tokio::select! {
            token = attempt.finish(discovery.http()) => token.map_err(failed),
            () = interrupted => Err(fail("Login cancelled", "")),
        }
    })?
}

fn show_page(context: &Context, host: &str, page: &Url) {
    let is_open = context.streams.input_is_terminal && browser::open(&context.settings, page);
    let what = if is_open { "If no browser opens, open" } else { "Open" };
    context.streams.print(&format!("\n{what} this page of {host} to log in:\n    {page}\n\nWaiting for the host...\n"));
}

fn by_hand(context: &mut Context, discovery: &Discovery, host: &str, api: &Url) -> Result<Token, Diagnostics> {
    let page = Url::parse(&format!("https://{host}/app/settings/tokens?source=terraform-login"));
    let page = page.map_err(|problem| fail("Invalid hostname", format!("{problem}.")))?;
    let is_open = context.streams.input_is_terminal && browser::open(&context.settings, &page);
    let what = if is_open { "If no browser opens, make" } else { "Make" };
    context.streams.print(&format!("\n{what} a token on this page:\n    {page}\n\n"));
    let prompter = context.prompter()?;
    let answer = {
        let _hidden = Hidden::begin();
        prompter.ask(&format!("Token for {host}:"), "")
    };
    let token = match answer {
        Answer::Line(line) if !line.trim().is_empty() => Token::new(line.trim()),
        Answer::Line(_) | Answer::NotUtf8 | Answer::Interrupted => return Err(fail("Login cancelled", "")),
        Answer::End => return Err(no_input()),
    };
    let url = api.join("account/details").map_err(|problem| fail("Token not usable", format!("{problem}.")))?;
    let answer = wait(discovery.http().get(&url, Some(&token), LARGEST_ANSWER))?;
    let answer = answer.map_err(|problem| fail("Token not usable", format!("{problem}.")))?;
    if !answer.status.is_success() {
        return Err(fail(
            "Token is invalid",
            format!("The host {host} does not accept it: it answered {}.", answer.status),
        ));
    }
    let account: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if let Some(name) = account.pointer("/data/attributes/username").and_then(Value::as_str) {
        context.streams.print(&format!("\nRetrieved token for user {name}\n"));
    }
    Ok(token)
}
