//! `state show`.

use groma_address::ResourceInstance;

use super::super::context::Context;
use super::super::lookup::Lookup;
use super::super::outcome::{Outcome, fail};
use super::reading::read;
use crate::arguments::StateShow;
use crate::views::state::write_object;

pub(super) fn run(context: &mut Context, arguments: &StateShow) -> Outcome {
    context.view(&arguments.common.view);
    let [text] = &*arguments.rest else {
        return Err(fail("Required argument missing", "Give the address of one instance, as state list prints it."));
    };
    let address: ResourceInstance = text.parse().map_err(|problem: groma_address::ParseError| {
        fail(
            &format!("Error parsing instance address: {text}"),
            format!("{problem} Give the address of one instance, as \"state list\" prints it."),
        )
    })?;
    let state = read(context, arguments.state.as_deref())?;
    let view = state.iter().find(|view| view.address() == address).ok_or_else(|| {
        fail(
            "No instance found for the given address!",
            "Give the address of one instance that is in the state, with its key if it has one. \"state list\" prints them all.",
        )
    })?;
    let mut out = String::new();
    for object in Lookup::new(context)?.objects_of(&view)? {
        write_object(&object, context.palette(), &mut out);
    }
    context.streams.print(&out);
    Ok(0)
}
