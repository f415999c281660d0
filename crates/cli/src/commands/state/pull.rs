//! `state pull`: prints the state as JSON.

use groma_provider::TERRAFORM_VERSION;
use groma_state::file;

use super::super::backend::{StateOverrides, state_location};
use super::super::configuration::{Purpose, load};
use super::super::context::Context;
use super::super::operation::find_state_unlocked;
use super::super::outcome::Outcome;
use crate::arguments::StatePull;

pub(super) fn run(context: &mut Context, arguments: &StatePull) -> Outcome {
    context.configure_view(&arguments.common.view);
    let (configuration, _) = load(context, Purpose::ChangeState)?;
    let location = state_location(context, &configuration.root, StateOverrides::default())?;
    // Terraform prints nothing for a missing state.
    let Some(mut state) = find_state_unlocked(context, location)? else { return Ok(0) };
    // As in Terraform, the printed state carries the version of the program that prints it.
    state.terraform_version = TERRAFORM_VERSION.to_owned();
    context.streams.print_document_with(|out| {
        file::write_to(&state, out)?;
        out.write_all(b"\n")
    });
    Ok(0)
}
