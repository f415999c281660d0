//! `output`: prints output values of the root module.

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_lang::console;
use groma_state::{OutputValue, State};
use groma_value::{Redacted, Type, convert};
use serde_json::{Map, Value as Json};

use super::backend::{StateOverrides, state_location};
use super::configuration::{Purpose, load};
use super::context::Context;
use super::operation::read_state_unlocked;
use super::outcome::{Outcome, fail};
use super::results::Results;
use crate::arguments::{Flag, Output};
use crate::views::json::{compact, pretty, type_json, value_json};
use crate::views::redaction::Redaction;
use crate::views::state::output_flags_json;

/// Text format of a single output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextFormat {
    /// An expression in the syntax of the language.
    Expression,
    /// The string itself, without quotes and line break.
    Raw,
}

pub(super) fn run(context: &mut Context, arguments: &Output) -> Outcome {
    context.configure_view(&arguments.reading.common.view);
    context.configure_secrets(&arguments.reading.secrets);
    let format = if arguments.raw.is_some_and(Flag::is_on) { TextFormat::Raw } else { TextFormat::Expression };
    let name = match &*arguments.rest {
        [] => None,
        // In scripts, `output "$NAME"` with an empty variable means all outputs.
        [name] => Some(&**name).filter(|name| !name.is_empty()),
        _ => {
            return Err(fail(
                "Unexpected argument",
                "Expected the name of one output, or no argument to show all outputs.",
            ));
        }
    };
    // All outputs have no single raw form.
    if format == TextFormat::Raw && name.is_none() {
        return Err(fail(
            "Output name required",
            "-raw prints the value of a single output. Add the name of the output.",
        ));
    }
    if format == TextFormat::Raw && arguments.reading.json.json.is_some_and(Flag::is_on) {
        return Err(fail("Invalid output format", "-raw and -json are mutually exclusive. Use only one of them."));
    }
    let results = Results::of(&arguments.reading.json)?;
    let state = read_state(context, arguments)?;
    match name {
        None => print_all(context, &results, &state),
        Some(name) => print_one(context, &results, &state, name, format),
    }
}

fn print_all(context: &Context, results: &Results, state: &State) -> Outcome {
    // Terraform prints the warning and succeeds, because an empty configuration is normal.
    if state.outputs.is_empty() && results.has_text() {
        context.show(&none_found());
    }
    if results.has_text() {
        context.streams.print_document(&list(state, context.redaction));
    }
    results.print_json(context, || format!("{}\n", pretty(&all_json(state))))?;
    Ok(0)
}

fn print_one(context: &Context, results: &Results, state: &State, name: &str, format: TextFormat) -> Outcome {
    // -raw and -json still fail below: their readers expect a value.
    if state.outputs.is_empty() && results.has_text() && format == TextFormat::Expression {
        context.show(&none_found());
        return Ok(0);
    }
    let output = state.outputs.get(name).ok_or_else(|| not_found(name))?;
    let text = match format {
        TextFormat::Raw => raw(name, output)?,
        TextFormat::Expression => format!("{}\n", console::format_revealed(&output.value)),
    };
    // Scripts read the value, so it is printed without protection for terminals.
    if results.has_text() {
        context.streams.print_document(&text);
    }
    results.print_json(context, || format!("{}\n", compact(&value_json(&output.value))))?;
    Ok(0)
}

fn read_state(context: &mut Context, arguments: &Output) -> Result<State, Diagnostics> {
    let (configuration, _) = load(context, Purpose::ReadState)?;
    let overrides = StateOverrides { state: arguments.state.as_deref(), ..StateOverrides::default() };
    let location = state_location(context, &configuration.root, overrides)?;
    read_state_unlocked(context, location)
}

/// Formats all outputs, one per line; sensitive values depend on `redaction`.
pub(super) fn list(state: &State, redaction: Redaction) -> String {
    let mut out = String::new();
    for (name, output) in &state.outputs {
        let text = match (output.sensitive, redaction) {
            (true, Redaction::Redact) => Redacted::SensitiveOutput.to_string(),
            (false, Redaction::Redact) => console::format(&output.value),
            (_, Redaction::Reveal) => console::format_revealed(&output.value),
        };
        out.push_str(&format!("{name} = {text}\n"));
    }
    out
}

/// Returns all outputs for the JSON message stream, without sensitive values.
pub(super) fn stream_json(state: &State) -> Map<String, Json> {
    let outputs = state.outputs.iter().map(|(name, output)| {
        let mut object = output_flags_json(output);
        object.insert("type".into(), type_json(&output.ty));
        // As in Terraform: message streams often end up in logs.
        if !output.sensitive {
            object.insert("value".into(), value_json(&output.value));
        }
        (name.to_string(), Json::Object(object))
    });
    outputs.collect()
}

fn all_json(state: &State) -> Json {
    let outputs = state.outputs.iter().map(|(name, output)| {
        let mut object = output_flags_json(output);
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
                "-raw only supports strings, numbers and bools, but the output {name:?} is {}.\n\nUse -json, which \
                 supports values of every type.",
                output.ty.friendly_name()
            ),
        )
    };
    // Conversion to string accepts exactly the types that -raw supports.
    let text = convert::convert(&output.value, &Type::String).map_err(|_| unsupported())?;
    text.as_str().map(str::to_owned).ok_or_else(|| {
        fail(
            "Unsupported value for raw output",
            format!("The output {name:?} is null, which -raw cannot print. Use -json instead."),
        )
    })
}

fn not_found(name: &str) -> Diagnostics {
    fail(
        &format!("Output {name:?} not found"),
        "The state has no output of that name. If the output was recently added to the configuration, run apply \
         first.",
    )
}

fn none_found() -> Diagnostics {
    Diagnostic::warning(
        "No outputs found",
        "The state has no outputs. Declare outputs with output blocks in the root module, then run apply to \
         store their values.",
    )
    .into()
}
