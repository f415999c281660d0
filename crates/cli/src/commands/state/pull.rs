//! `state pull`.

use groma_state::file;

use super::super::backend::{Elsewhere, has_state, state_paths};
use super::super::configuration::load_to_change_state;
use super::super::context::Context;
use super::super::operation::look_at_state;
use super::super::outcome::Outcome;
use crate::arguments::StatePull;
use crate::settings::TERRAFORM_VERSION;

pub(super) fn run(context: &mut Context, arguments: &StatePull) -> Outcome {
    context.view(&arguments.common.view);
    let configuration = load_to_change_state(context)?;
    let paths = state_paths(context, &configuration.root, Elsewhere::default())?;
    if !has_state(&paths) {
        return Ok(0);
    }
    let mut state = look_at_state(context, paths)?;
    // What is printed is written here, and now.
    state.terraform_version = TERRAFORM_VERSION.to_owned();
    context.streams.print_document(&format!("{}\n", String::from_utf8_lossy(&file::write(&state))));
    Ok(0)
}
