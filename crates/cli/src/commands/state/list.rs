//! `state list`.

use super::super::context::Context;
use super::super::outcome::Outcome;
use super::reading::{chosen, read};
use crate::arguments::StateList;

pub(super) fn run(context: &mut Context, arguments: &StateList) -> Outcome {
    context.view(&arguments.common.view);
    let state = read(context, arguments.state.as_deref())?;
    let mut text = String::new();
    for view in chosen(&state, &arguments.addresses, arguments.id.as_deref())? {
        text.push_str(&view.address().to_string());
        text.push('\n');
    }
    context.streams.print(&text);
    Ok(0)
}
