//! `logout`: deletes the stored API token of a host.

use super::context::Context;
use super::outcome::{Outcome, fail};
use super::token_storage::{Kept, TokenStorage};
use crate::arguments::Login;
use crate::terminal::Tone;

pub(super) fn run(context: &mut Context, arguments: &Login) -> Outcome {
    context.configure_view(&arguments.view);
    let storage = TokenStorage::of(context, &arguments.host)?;
    let host = storage.host().to_owned();
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
