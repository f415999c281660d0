//! `state show`: prints a resource instance in the state.

use groma_address::ResourceInstance;

use super::super::context::Context;
use super::super::lookup::Lookup;
use super::super::outcome::{Outcome, fail};
use super::super::results::Results;
use super::reading::read;
use crate::arguments::StateShow;
use crate::views::json::compact;
use crate::views::state::{objects_json, write_object};

pub(super) fn run(context: &mut Context, arguments: &StateShow) -> Outcome {
    context.configure_view(&arguments.common.view);
    context.configure_secrets(&arguments.secrets);
    let results = Results::of(&arguments.json)?;
    let [text] = &*arguments.rest else {
        return Err(fail(
            "Required argument missing",
            "Expected the address of one instance, as printed by \"state list\".",
        ));
    };
    let address: ResourceInstance = text.parse().map_err(|problem: groma_address::ParseError| {
        fail(
            &format!("Error parsing instance address: {text}"),
            format!("{problem} Use the address of one instance, as printed by \"state list\"."),
        )
    })?;
    let state = read(context, arguments.state.as_deref())?;
    // Only the exact instance matches: an address without a key is not a whole resource here.
    let view = state.iter().find(|view| view.address() == address).ok_or_else(|| {
        fail(
            "No instance found for the given address!",
            "The state contains no instance with this address. Instances of count and for_each need their key. Run \"state list\" to \
            see all addresses.",
        )
    })?;
    let objects = Lookup::new(context)?.objects_of(&view)?;
    let text = || {
        let mut out = String::new();
        objects.iter().for_each(|object| write_object(object, context.palette(), context.redaction, &mut out));
        out
        // Text and JSON show the current object and the deposed ones.
    };
    results.print(context, text, || format!("{}\n", compact(&objects_json(&state.terraform_version, &objects))))?;
    Ok(0)
}
