//! `output`.

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_lang::console;
use groma_state::{OutputValue, State};
use groma_value::{Type, convert};
use serde_json::{Map, Value as Json};

use super::backend::{Elsewhere, state_paths};
use super::configuration::load_for_state;
use super::context::Context;
use super::operation::look_at_state;
use super::outcome::{Outcome, fail};
use super::results::Results;
use crate::arguments::{Flag, Output};
use crate::views::json::{compact, pretty, type_json, value_json};
use crate::views::secrecy::Secrecy;
use crate::views::state::told_of;

/// The output format of a single value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// As an expression of the language.
    Shown,
    /// As a raw string.
    Raw,
}

pub(super) fn run(context: &mut Context, arguments: &Output) -> Outcome {
    context.view(&arguments.reading.common.view);
    context.reveal(&arguments.reading.secrets);
    let manner = if arguments.raw.is_some_and(Flag::is_on) { Manner::Raw } else { Manner::Shown };
    let name = match &*arguments.rest {
        [] => None,
        // Scripts write `output "$NAME"`.
        [name] => Some(&**name).filter(|name| !name.is_empty()),
        _ => {
            return Err(fail("Unexpected argument", "Give the name of one output, or none to see all outputs."));
        }
    };
    if manner == Manner::Raw && name.is_none() {
        return Err(fail("Output name required", "-raw prints the value of one output. Give its name."));
    }
    if manner == Manner::Raw && arguments.reading.json.json.is_some_and(Flag::is_on) {
        return Err(fail(
            "Invalid output format",
            "A value is printed either as bare text or as JSON: give -raw or -json, not both.",
        ));
    }
    let results = Results::of(&arguments.reading.json)?;
    let state = read_state(context, arguments)?;
    match name {
        None => tell_all(context, &results, &state),
        Some(name) => tell_one(context, &results, &state, name, manner),
    }
}

fn tell_all(context: &Context, results: &Results, state: &State) -> Outcome {
    if state.outputs.is_empty() && results.has_text() {
        context.show(&none_found());
    }
    if results.has_text() {
        context.streams.print_document(&list(state, context.secrecy));
    }
    results.tell_programs(context, || format!("{}\n", pretty(&all_json(state))))?;
    Ok(0)
}

fn tell_one(context: &Context, results: &Results, state: &State, name: &str, manner: Manner) -> Outcome {
    if state.outputs.is_empty() && results.has_text() && manner == Manner::Shown {
        context.show(&none_found());
        return Ok(0);
    }
    let output = state.outputs.get(name).ok_or_else(|| not_found(name))?;
    let text = match manner {
        Manner::Raw => raw(name, output)?,
        Manner::Shown => format!("{}\n", console::format_revealed(&output.value)),
    };
    // Scripts read it.
    if results.has_text() {
        context.streams.print_document(&text);
    }
    results.tell_programs(context, || format!("{}\n", compact(&value_json(&output.value))))?;
    Ok(0)
}

fn read_state(context: &mut Context, arguments: &Output) -> Result<State, Diagnostics> {
    let configuration = load_for_state(context)?;
    let elsewhere = Elsewhere { state: arguments.state.as_deref(), ..Elsewhere::default() };
    let paths = state_paths(context, &configuration.root, elsewhere)?;
    look_at_state(context, paths)
}

/// All outputs, one below the other, with what may be shown of secrets.
pub(super) fn list(state: &State, secrecy: Secrecy) -> String {
    let mut out = String::new();
    for (name, output) in &state.outputs {
        let text = match (output.sensitive, secrecy) {
            (true, Secrecy::Hidden) => "<sensitive>".to_owned(),
            (false, Secrecy::Hidden) => console::format(&output.value),
            (_, Secrecy::Revealed) => console::format_revealed(&output.value),
        };
        out.push_str(&format!("{name} = {text}\n"));
    }
    out
}

/// All outputs as the message stream tells them: what is secret without its value.
pub(super) fn stream_json(state: &State) -> Map<String, Json> {
    let outputs = state.outputs.iter().map(|(name, output)| {
        let mut object = told_of(output);
        object.insert("type".into(), type_json(&output.ty));
        if !output.sensitive {
            object.insert("value".into(), value_json(&output.value));
        }
        (name.to_string(), Json::Object(object))
    });
    outputs.collect()
}

fn all_json(state: &State) -> Json {
    let outputs = state.outputs.iter().map(|(name, output)| {
        let mut object = told_of(output);
        object.insert("type".into(), type_json(&output.ty));
        object.insert("value".into(), value_json(&output.value));
        (name.to_string(), Json::Object(object))
    });
    Json::Object(outputs.collect())
}

fn raw(name: &str, output: &OutputValue) -> Result<String, Diagnostics> {
    let unsupported = || {
        fail(
            "Unsupported value for raw output",
            format!(
                "-raw prints the bare text of a string, a number or a bool, but the output {name:?} is {}.\n\nUse \
                 -json, which prints values of every type.",
                output.ty.friendly_name()
            ),
        )
    };
    let text = convert::convert(&output.value, &Type::String).map_err(|_| unsupported())?;
    text.as_str().map(str::to_owned).ok_or_else(|| {
        fail(
            "Unsupported value for raw output",
            format!("The output {name:?} is null, which has no text that -raw could print. Use -json."),
        )
    })
}

fn not_found(name: &str) -> Diagnostics {
    fail(
        &format!("Output {name:?} not found"),
        "The state has no output of that name. If it is new in the configuration, run apply first, which gives it \
         its value.",
    )
}

fn none_found() -> Diagnostics {
    Diagnostic::warning(
        "No outputs found",
        "The state has no outputs that hold a value. Declare some with output blocks in the root module, and run \
         apply, which gives them their values.",
    )
    .into()
}
