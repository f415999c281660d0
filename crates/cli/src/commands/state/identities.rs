//! `state identities`: prints the resource identities in the state.

use std::collections::BTreeMap;

use super::super::context::Context;
use super::super::outcome::{Outcome, fail};
use super::reading::{chosen, read};
use crate::arguments::{Flag, StateIdentities};

pub(super) fn run(context: &mut Context, arguments: &StateIdentities) -> Outcome {
    let list = &arguments.list;
    context.configure_view(&list.common.view);
    if !list.json.json.is_some_and(Flag::is_on) {
        return Err(fail(
            &format!("The `{} state identities` command requires the `-json` flag", context.wording.command),
            "The identities are only available as JSON. Add -json.",
        ));
    }
    let state = read(context, list.state.as_deref())?;
    let mut identities: BTreeMap<String, serde_json::Value> = BTreeMap::new();
    for view in chosen(&state, &list.addresses, list.id.as_deref())? {
        let identity = view.record.current.as_ref().and_then(|object| object.identity.as_ref());
        let json = identity.and_then(|identity| identity.json.as_ref());
        // The identity is stored as the provider's JSON, so it is printed without a schema.
        match json.and_then(|json| serde_json::from_str(json.as_str()).ok()) {
            // Objects without an identity are omitted.
            None | Some(serde_json::Value::Null) => {}
            Some(value) => {
                identities.insert(view.address().to_string(), value);
            }
        }
    }
    // Sorted by address, as a map in Go's JSON output.
    let text = serde_json::to_string_pretty(&identities).unwrap_or_else(|_| "{}".to_owned());
    context.streams.print_document(&format!("{text}\n"));
    Ok(0)
}
