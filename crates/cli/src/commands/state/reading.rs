//! Finding things in a state by what a person typed.

use std::path::Path;

use groma_address::Target;
use groma_diagnostics::Diagnostics;
use groma_state::{InstanceView, State, StatePaths};

use super::super::backend::{Elsewhere, has_state, state_paths};
use super::super::configuration::load_for_state;
use super::super::context::Context;
use super::super::operation::look_at_state;
use super::super::outcome::fail;

/// Reads the state that is there, without its lock.
pub(super) fn read(context: &mut Context, file: Option<&Path>) -> Result<State, Diagnostics> {
    let configuration = load_for_state(context)?;
    let paths = state_paths(context, &configuration.root, Elsewhere { state: file, ..Elsewhere::default() })?;
    must_exist(&paths)?;
    look_at_state(context, paths)
}

/// Reports an error if there is no state yet.
pub(super) fn must_exist(paths: &StatePaths) -> Result<(), Diagnostics> {
    if has_state(paths) {
        return Ok(());
    }
    Err(fail(
        "No state file was found!",
        format!(
            "There is no state at {}. Run this command in a directory that was applied, or name the file of the state with the \
             -state option.",
            paths.read.display()
        ),
    ))
}

/// Parses an address argument.
pub(super) fn target(text: &str) -> Result<Target, Diagnostics> {
    text.parse().map_err(|problem: groma_address::ParseError| fail("Invalid address", format!("{text:?}: {problem}")))
}

/// The instances of `state` that the texts and the id ask for: those of the first text first. What two texts name is there
/// twice, as in Terraform.
///
/// # Errors
/// Selects the objects at the given addresses; reports invalid addresses and those without objects.
pub(super) fn chosen<'s>(
    state: &'s State,
    addresses: &[String],
    id: Option<&str>,
) -> Result<Vec<InstanceView<'s>>, Diagnostics> {
    let mut found: Vec<InstanceView<'s>> = if addresses.is_empty() { state.iter().collect() } else { Vec::new() };
    let mut problems = Diagnostics::new();
    for text in addresses {
        match target(text) {
            Ok(target) => {
                let before = found.len();
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
            "The current state contains no {what} {target}. What was added to the configuration recently is in the state only \
             after an apply."
        ),
    )
}
