//! Reads a state, and selects its instances by address and ID.

use std::path::Path;

use groma_address::Target;
use groma_diagnostics::Diagnostics;
use groma_state::{InstanceView, State};

use super::super::backend::{StateLocation, StateOverrides, file_location, state_location};
use super::super::configuration::{Purpose, load};
use super::super::context::Context;
use super::super::operation::read_state_unlocked;
use super::super::outcome::fail;

/// Reads the existing state, without its lock.
pub(super) fn read(context: &mut Context, file: Option<&Path>) -> Result<State, Diagnostics> {
    let (configuration, _) = load(context, Purpose::ReadState)?;
    let location = match file {
        Some(file) => file_location(&configuration.root, file)?,
        None => state_location(context, &configuration.root, StateOverrides::default())?,
    };
    // Reading a missing state would look like an empty one.
    must_exist(&location)?;
    read_state_unlocked(context, location)
}

/// Checks that a state exists.
pub(super) fn must_exist(location: &StateLocation) -> Result<(), Diagnostics> {
    if location.has_state()? {
        return Ok(());
    }
    Err(fail(
        "No state file was found!",
        format!(
            "No state exists in {}. Run this command in a directory that has been applied, or select a state file with \
             -state.",
            location.shown()
        ),
    ))
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
