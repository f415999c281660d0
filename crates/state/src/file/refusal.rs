//! The reasons why a file is not a state, and why parts of a state file cannot be used.

use groma_address::ParseError;
use serde_json::value::RawValue;
use thiserror::Error;

use super::FORMAT_VERSION;
use crate::error::{StateError, StateErrorKind};

pub(super) const UNSUPPORTED: &str = "Unsupported state file format";
pub(super) const INVALID: &str = "Invalid state file format";
pub(super) const INVALID_INSTANCE: &str = "Invalid resource instance metadata in state";

/// Explains why `text` is not a JSON object.
pub(super) fn not_json(text: &str, error: &serde_json::Error) -> StateError {
    let position = format!("line {} column {}", error.line(), error.column());
    let detail = if error.is_eof() {
        format!(
            "The state file is truncated: its JSON ends at {position}, probably because the program that wrote it was interrupted."
        )
    } else if error.is_data() && !text.trim_start().starts_with('{') {
        "The file holds JSON but no object, so it is not a state file.".to_owned()
    } else {
        format!("The state file is not valid JSON: syntax error at {position}.")
    };
    StateError::damaged(UNSUPPORTED, detail)
}

/// JSON that is no state of the version that it names.
pub(super) fn wrong_types(error: &serde_json::Error) -> StateError {
    let what = without_values(&error.to_string());
    StateError::damaged(INVALID, format!("The state file is JSON of the right version, but {what}."))
}

/// The reader's message without the text it found, which may be secret.
fn without_values(message: &str) -> String {
    let mut parts = message.splitn(2, "string \"");
    let (before, after) = (parts.next().unwrap_or_default(), parts.next());
    match after.and_then(|after| after.rfind("\", expected").map(|at| &after[at + 1..])) {
        Some(after) => format!("{before}a string{after}"),
        None if after.is_some() => format!("{before}a string"),
        None => message.to_owned(),
    }
}

/// A state of a format that nobody here reads.
pub(super) fn other_version(number: u64, writer: Option<&RawValue>) -> StateError {
    let writer = writer.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    let plausible = |writer: &String| writer.len() < 40 && writer.starts_with(|c: char| c.is_ascii_digit());
    let by = writer.filter(plausible).map(|writer| format!(" It was written by version {writer}.")).unwrap_or_default();
    if number > FORMAT_VERSION {
        let detail = format!(
            "The state file uses format version {number}, which is newer than version {FORMAT_VERSION}, the newest that \
             is known here.{by} Use a newer release, or the tool that wrote the file; nothing was changed."
        );
        return StateError::new(StateErrorKind::Unsupported, UNSUPPORTED, detail);
    }
    let detail = format!("The state file uses format version {number}, which there never was.{by}");
    StateError { kind: StateErrorKind::Unsupported, ..StateError::damaged(UNSUPPORTED, detail) }
}

/// The reason why the entry of an instance is not an object. Follows the address of the instance; holds no values of
/// attributes.
#[derive(Clone, Debug, PartialEq, Error)]
pub(crate) enum ObjectProblem {
    #[error("it has the status {0:?}; only \"tainted\" is known")]
    UnknownStatus(String),
    #[error("it has a deposed key that has not eight characters")]
    DeposedKey,
    #[error("its private data is not valid base64")]
    Private,
    #[error("its dependencies are not a list of addresses")]
    Dependencies,
    #[error("its dependencies contain {text:?}, which is not a valid resource address: {error}")]
    Dependency { text: String, error: ParseError },
    #[error(transparent)]
    Paths(#[from] PathsProblem),
}

/// The reason why a JSON document is not a list of sensitive paths.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum PathsProblem {
    #[error("its sensitive_attributes are not lists of path steps")]
    NoLists,
    #[error("a step in its sensitive_attributes has an attribute name that is not a string")]
    AttributeName,
    #[error("a step in its sensitive_attributes has an invalid index")]
    Index,
    #[error("its sensitive_attributes have a step of the unknown type {0:?}")]
    UnknownStep(String),
}

/// The reason why a JSON value is not an instance key. Follows "has an instance".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum KeyProblem {
    #[error("with a key that is not a valid string")]
    String,
    #[error("with a key that is neither a whole number nor a string")]
    Type,
}
