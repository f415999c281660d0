//! `state`: inspects and changes the state without touching real objects.

mod changing;
mod mv;
mod pull;
mod push;
mod reading;
mod replace_provider;
mod rm;
mod sharing;
mod show;

use super::context::Context;
use super::outcome::Outcome;
use crate::arguments::State;

pub(super) fn run(context: &mut Context, arguments: &State) -> Outcome {
    match arguments {
        State::Identities(arguments) => reading::identities(context, arguments),
        State::List(arguments) => reading::list(context, arguments),
        State::Mv(arguments) => mv::run(context, arguments),
        State::Pull(arguments) => pull::run(context, arguments),
        State::Push(arguments) => push::run(context, arguments),
        State::ReplaceProvider(arguments) => replace_provider::run(context, arguments),
        State::Rm(arguments) => rm::run(context, arguments),
        State::Sharing(arguments) => sharing::run(context, arguments),
        State::Show(arguments) => show::run(context, arguments),
    }
}
