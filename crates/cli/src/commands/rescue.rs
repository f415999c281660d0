//! Writes the state at the end of a run, with fallbacks if that fails.

use std::path::Path;

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_encryption::Encryption;
use groma_state::{State, StateError, sealed_state, write_errored, write_errored_in_shared};

use super::backend::StateHandle;
use super::context::Context;
use crate::views::json::Message;

/// Writes the state. If that fails, falls back to a file in another directory, and then to standard output.
///
/// Every command that changes the state after provider calls saves it here: these results are stored nowhere else.
pub(super) fn save(context: &Context, store: &mut StateHandle, state: &mut State, problems: &mut Diagnostics) {
    let saved = store.save(state);
    if let Some(refusal) = store.journal_refusal() {
        problems.push(Diagnostic::warning(
            "Journal not kept in the state storage",
            format!(
                "The results of this run were recorded on this machine only until the state was written. They would have been lost with \
                 the machine, because the state storage does not accept the journal:\n{}: {}",
                refusal.summary, refusal.detail
            ),
        ));
    }
    let Err(problem) = saved else { return };
    let encryption = store.encryption().map(|encryption| &**encryption);
    let command = &context.wording.command;
    // The results in the journal are recovered without any action of the user.
    let recovery = store.is_in_journal().then(|| {
        format!(
            "The journal {} has all results too: fix the cause, and the next run on this machine recovers them automatically.",
            store.journal_file().display()
        )
    });
    let push = |file: &str| {
        format!(
            "Fix the cause, then store this state before you run anything else, so that nothing is created twice:\n  {command} \
             state push -force {file}"
        )
    };
    let rescue = match (write_fallback(state, encryption), recovery) {
        (Ok(path), Some(recovery)) => {
            let path = path.display();
            format!(
                "The state was written to {path} instead. {recovery} To store the state from another machine, or without the journal, \
                 copy the file and run:\n  {command} state push {path}"
            )
        }
        (Ok(path), None) => {
            let path = path.display().to_string();
            format!("The state was written to {path} instead. {}", push(&path))
        }
        (Err(second), Some(recovery)) => {
            format!("It could not be written to another file either: {}. {recovery}", second.summary)
        }
        (Err(second), None) => print_fallback(context, state, encryption, &second, &push("FILE")),
    };
    problems.push(Diagnostic::error(
        "Failed to save state",
        format!("{}: {}\n\n{rescue}", problem.summary, problem.detail),
    ));
}

/// Writes the state to the working directory, or to the temporary directory.
fn write_fallback(state: &State, encryption: Option<&Encryption>) -> Result<std::path::PathBuf, StateError> {
    // Next to the configuration, where people look first; the temporary directory may be readable by others.
    write_errored(Path::new("."), state, encryption)
        .map(|path| path.strip_prefix(".").map(Path::to_owned).unwrap_or(path))
        .or_else(|first| write_errored_in_shared(&std::env::temp_dir(), state, encryption).map_err(|_| first))
}

/// Prints the state to standard output, as the last resort.
fn print_fallback(
    context: &Context,
    state: &State,
    encryption: Option<&Encryption>,
    second: &StateError,
    next: &str,
) -> String {
    match sealed_state(state, encryption) {
        Ok(bytes) => {
            let written = dump(context, &bytes);
            format!("It could not be written to another file either: {}. {written}\n\n{next}", second.summary)
        }
        // The state cannot even be encrypted, and it must not be printed in plain text.
        Err(third) => format!("It could not be written to another file either: {}; {}.", second.summary, third.summary),
    }
}

/// Prints a state; returns where it is and what to do with it. With -json it is a message as in Terraform, so that each line remains
/// one JSON object.
fn dump(context: &Context, state: &[u8]) -> &'static str {
    // The state was serialized by this program, and JSON numbers keep their digits.
    if let Ok(document) = serde_json::from_slice::<serde_json::Value>(state) {
        for stream in context.json_streams() {
            stream.send(Message::new("log", "Emergency state dump").with("state", document.clone()));
        }
    }
    if context.messages().is_some() {
        return "It is printed above instead, as the \"state\" of the message \"Emergency state dump\": save that object to a file.";
    }
    // A document, whose bytes stay as they are in pipes and files.
    context.streams.print_document_bytes(state);
    "It is printed above instead, as JSON: save all of it, from the first { to the last }, to a file."
}
