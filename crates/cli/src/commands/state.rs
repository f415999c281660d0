//! `state list` and `state show`.

use std::path::Path;

use groma_address::{ResourceInstance, Target};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_state::{InstanceView, Locking, State as StoredState};

use super::backend::{Elsewhere, state_paths};
use super::configuration::{Empty, load_directory};
use super::context::Context;
use super::lookup::Lookup;
use super::operation::open_state;
use super::outcome::{Outcome, fail};
use crate::arguments::{State, StateList, StateShow};
use crate::views::state::write_object;

pub(super) fn run(context: &mut Context, arguments: &State) -> Outcome {
    match arguments {
        State::List(arguments) => list(context, arguments),
        State::Show(arguments) => show(context, arguments),
    }
}

fn list(context: &mut Context, arguments: &StateList) -> Outcome {
    context.view(&arguments.view);
    let mut targets = Vec::new();
    for text in &arguments.addresses {
        let target: Target =
            text.parse().map_err(|problem: groma_address::ParseError| invalid_address(text, &problem))?;
        targets.push(target);
    }
    let state = read(context, arguments.state.as_deref())?;
    for (target, text) in targets.iter().zip(&arguments.addresses) {
        let is_there = state.iter().any(|view| target.contains(&view.address()));
        if !is_there && !matches!(target, Target::Module(_)) {
            return Err(fail(
                "Unknown resource",
                format!(
                    "The current state contains no resource {text}. A resource that was added to the configuration recently is in the state \
                     only after an apply."
                ),
            ));
        }
    }
    let is_wanted = |view: &InstanceView<'_>| {
        let address = view.address();
        let is_among = targets.is_empty() || targets.iter().any(|target| target.contains(&address));
        is_among && arguments.id.as_ref().is_none_or(|id| has_id(view, id))
    };
    let mut text = String::new();
    for view in state.iter().filter(is_wanted) {
        text.push_str(&view.address().to_string());
        text.push('\n');
    }
    context.streams.print(&text);
    Ok(0)
}

fn has_id(view: &InstanceView<'_>, id: &str) -> bool {
    let wanted = serde_json::Value::from(id).to_string();
    view.record.current.as_ref().and_then(|record| record.id_json()).is_some_and(|found| found == wanted)
}

fn show(context: &mut Context, arguments: &StateShow) -> Outcome {
    context.view(&arguments.view);
    let [text] = &*arguments.rest else {
        return Err(fail(
            "Exactly one argument expected",
            "Give the address of one instance, as state list prints it.",
        ));
    };
    let address: ResourceInstance =
        text.parse().map_err(|problem: groma_address::ParseError| invalid_address(text, &problem))?;
    let state = read(context, arguments.state.as_deref())?;
    let view = state.iter().find(|view| view.address() == address).ok_or_else(|| {
        fail(
            "No instance found for the given address!",
            "Give the address of one instance that is in the state, with its key if it has one. \"state list\" \
             prints them all.",
        )
    })?;
    let mut out = String::new();
    for object in Lookup::default().objects_of(&view)? {
        write_object(&object, context.palette(), &mut out);
    }
    context.streams.print(&out);
    Ok(0)
}

fn invalid_address(text: &str, problem: &groma_address::ParseError) -> Diagnostics {
    Diagnostic::error("Error parsing instance address", format!("{text:?} is no address: {problem}")).into()
}

fn read(context: &mut Context, file: Option<&Path>) -> Result<StoredState, Diagnostics> {
    let (configuration, _) = load_directory(context, Empty::Fine)?;
    let paths = state_paths(context, &configuration.root, Elsewhere { state: file, ..Elsewhere::default() })?;
    if !paths.read.exists() && !paths.journal().exists() {
        return Err(fail(
            "No state file was found!",
            format!(
                "There is no state at {}. Run this command in a directory that was applied, or name the file of the \
                 state with the -state option.",
                paths.read.display()
            ),
        ));
    }
    open_state(context, paths, &Locking::Off).map(|(_, state)| state)
}
