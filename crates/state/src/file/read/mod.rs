//! From the file's bytes to a [`State`].

mod dependencies;
mod object;
mod reader;
mod values;

use serde_json::value::RawValue;

use super::FORMAT_VERSION;
use super::layout::read_file;
use super::legacy::{self, LEGACY_VERSIONS};
use super::refusal::{INVALID, RESTORE, UNSUPPORTED, not_json, other_version, wrong_types};
use super::writer_version::check_writer_version;
use crate::error::StateError;
use crate::model::State;
use reader::Reader;
pub(crate) use values::{decode_check_results, decode_outputs, parse_paths};

/// Whether the bytes hold nothing: such a file is the state of a configuration that was never applied.
pub fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

/// Reads a state file's content.
///
/// # Errors
/// Fails if the text is blank (see [`is_blank`]), not JSON, not a state, of an unknown format version, or inconsistent.
pub fn read(bytes: &[u8]) -> Result<State, StateError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let detail = format!("The state file is not valid UTF-8 from byte {} on. {RESTORE}", error.valid_up_to());
        StateError::malformed(UNSUPPORTED, detail)
    })?;
    let mut reader = Reader::default();
    match read_file(text, &mut reader) {
        Ok(()) if reader.version == Some(FORMAT_VERSION) => {
            check_writer_version(&reader.state.terraform_version)?;
            Ok(reader.state)
        }
        other => read_otherwise(text, other.err(), reader.refusal),
    }
}

/// Reads `text` as a state of an older format, or returns the reason why it is none.
fn read_otherwise(
    text: &str,
    error: Option<serde_json::Error>,
    refusal: Option<StateError>,
) -> Result<State, StateError> {
    #[derive(serde::Deserialize)]
    struct Sniff<'a> {
        #[serde(borrow)]
        version: Option<&'a RawValue>,
        #[serde(borrow)]
        terraform_version: Option<&'a RawValue>,
        #[serde(borrow)]
        encrypted_data: Option<&'a RawValue>,
    }
    if is_blank(text.as_bytes()) {
        return Err(StateError::malformed(UNSUPPORTED, format!("The state file is empty. {RESTORE}")));
    }
    let sniff = match serde_json::from_str::<Sniff<'_>>(text) {
        Ok(sniff) => sniff,
        Err(error) => return Err(not_json(text, &error)),
    };
    let Some(version) = sniff.version.map(RawValue::get) else {
        let detail = if sniff.encrypted_data.is_some() {
            "The state file is encrypted, and no encryption block in the terraform block, nor the environment variable \
             TF_ENCRYPTION, says how. Add the one with which it was written."
                .to_owned()
        } else {
            format!("The file has no \"version\" at its top level, so it is not a state file. {RESTORE}")
        };
        return Err(StateError::malformed(UNSUPPORTED, detail));
    };
    let Ok(number) = version.parse::<u64>() else {
        let detail = format!("The version in the state file is not a whole number. {RESTORE}");
        return Err(StateError::malformed(UNSUPPORTED, detail));
    };
    match (number, error) {
        (FORMAT_VERSION, Some(error)) => Err(refusal.unwrap_or_else(|| wrong_types(&error))),
        (FORMAT_VERSION, None) => Err(StateError::malformed(INVALID, RESTORE)),
        _ if LEGACY_VERSIONS.contains(&number) => legacy::read(text, number),
        _ => Err(other_version(number, sniff.terraform_version)),
    }
}
