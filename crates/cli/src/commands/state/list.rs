//! `state list`: lists the resource instances in the state.

use super::super::context::Context;
use super::super::outcome::Outcome;
use super::reading::{chosen, read};
use crate::arguments::StateList;
use crate::views::json::Message;

pub(super) fn run(context: &mut Context, arguments: &StateList) -> Outcome {
    context.configure_view(&arguments.common.view);
    context.configure_json(&arguments.json)?;
    let state = read(context, arguments.state.as_deref())?;
    let addresses: Vec<String> = chosen(&state, &arguments.addresses, arguments.id.as_deref())?
        .iter()
        .map(|view| view.address().to_string())
        .collect();
    for stream in context.json_streams() {
        addresses.iter().for_each(|address| stream.send(Message::new("resource_address", address)));
    }
    if context.messages().is_none() {
        context.streams.print(&addresses.iter().map(|address| format!("{address}\n")).collect::<String>());
    }
    Ok(0)
}
