//! `logout`: a host's token is forgotten.

use super::context::Context;
use super::outcome::{Outcome, fail};
use super::token_place::{Kept, TokenPlace};
use crate::arguments::Login;
use crate::terminal::Tone;

pub(super) fn run(context: &mut Context, arguments: &Login) -> Outcome {
    context.view(&arguments.view);
    let place = TokenPlace::of(context, &arguments.host)?;
    let host = place.host().to_owned();
    if place.is_by_hand()? {
        return Err(fail(
            &format!("Credentials for {host} are manually configured"),
            "A file of the CLI configuration has the token. Take the credentials block out of that file to log out.",
        ));
    }
    if place.forget()? == Kept::No {
        context.streams.print(&format!("No credentials for {host} are stored.\n"));
        return Ok(0);
    }
    let success = context.palette().paint(Tone::BoldGreen, "Success!").to_string();
    let text = place.text();
    context.streams.print(&format!(
        "{success} The token for {host} is forgotten. It was kept {text}\nThe host itself accepts it until it is revoked there.\n"
    ));
    Ok(0)
}
