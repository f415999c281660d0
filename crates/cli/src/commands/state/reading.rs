//! Reads a state, and selects its instances by address and ID.

use std::collections::BTreeMap;
use std::path::Path;

use groma_address::Target;
use groma_diagnostics::Diagnostics;
use groma_state::{InstanceView, State};

use super::super::backend::{StateLocation, StateOverrides, file_location, state_location};
use super::super::configuration::{Purpose, load};
use super::super::context::Context;
use super::super::operation::find_state_unlocked;
use super::super::outcome::fail;
use crate::arguments::{Flag, StateIdentities, StateList};
use crate::commands::outcome::Outcome;
use crate::views::json::Message;

/// Reads the existing state, without its lock.
pub(super) fn read(context: &mut Context, file: Option<&Path>) -> Result<State, Diagnostics> {
    let (configuration, _) = load(context, Purpose::ReadState)?;
    let location = match file {
        Some(file) => file_location(&configuration.root, file)?,
        None => state_location(context, &configuration.root, StateOverrides::default())?,
    };
    let shown = location.shown();
    // A missing state must not look like an empty one.
    find_state_unlocked(context, location)?.ok_or_else(|| no_state(&shown))
}

/// Checks that a state exists.
pub(super) fn must_exist(location: &StateLocation) -> Result<(), Diagnostics> {
    if location.has_state()? { Ok(()) } else { Err(no_state(&location.shown())) }
}

fn no_state(location: &str) -> Diagnostics {
    fail(
        "No state file was found!",
        format!(
            "No state exists in {location}. Run this command in a directory that has been applied, or select a state file with -state."
        ),
    )
}

/// Parses the address of a module, resource or instance.
pub(super) fn target(text: &str) -> Result<Target, Diagnostics> {
    text.parse().map_err(|problem: groma_address::ParseError| fail("Invalid address", format!("{text:?}: {problem}")))
}

/// Returns the instances of `state` that match the addresses and the ID, in the order of the addresses. As in Terraform, an
/// instance that matches two addresses is listed twice.
///
/// # Errors
/// Reports all addresses that are invalid or match nothing.
pub(super) fn chosen<'s>(
    state: &'s State,
    addresses: &[String],
    id: Option<&str>,
) -> Result<Vec<InstanceView<'s>>, Diagnostics> {
    let mut found: Vec<InstanceView<'s>> = if addresses.is_empty() { state.iter().collect() } else { Vec::new() };
    let mut problems = Diagnostics::new();
    for text in addresses {
        // All addresses are checked, so that one run reports every mistake.
        match target(text) {
            Ok(target) => {
                let before = found.len();
                // An address may match several instances: those of a module or resource.
                found.extend(state.iter().filter(|view| target.contains(&view.address())));
                if found.len() == before {
                    problems.append(unknown(&target));
                }
            }
            Err(problem) => problems.append(problem),
        }
    }
    if problems.has_errors() {
        return Err(problems);
    }
    if let Some(id) = id.filter(|id| !id.is_empty()) {
        // Compared as JSON, because the state stores attributes as JSON text.
        let wanted = serde_json::Value::from(id).to_string();
        found.retain(|view| has_id(view, &wanted));
    }
    Ok(found)
}

fn has_id(view: &InstanceView<'_>, wanted: &str) -> bool {
    view.record.current.as_ref().and_then(|record| record.id_json()).is_some_and(|found| found == wanted)
}

fn unknown(target: &Target) -> Diagnostics {
    let (summary, what) = match target {
        Target::Module(_) => ("Unknown module", "module"),
        Target::Resource(_) => ("Unknown resource", "resource"),
        Target::Instance(_) => ("Unknown resource instance", "resource instance"),
    };
    fail(
        summary,
        format!(
            "The current state contains no {what} {target}. If it was recently added to the configuration, run apply first."
        ),
    )
}

pub(super) fn list(context: &mut Context, arguments: &StateList) -> Outcome {
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

pub(super) fn identities(context: &mut Context, arguments: &StateIdentities) -> Outcome {
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
