//! From the file's bytes to a [`State`].

mod object;
mod reader;
mod values;

pub(crate) use values::{decode_check_results, decode_outputs, parse_paths};

use reader::Reader;
use serde_json::value::RawValue;

use super::FORMAT_VERSION;
use super::layout::read_file;
use super::legacy::{self, LEGACY_VERSIONS};
use super::refusal::{INVALID, UNSUPPORTED, not_json, other_version, wrong_types};
use crate::error::StateError;
use crate::model::State;

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
        let detail = format!("The state file is not valid UTF-8 from byte {} on.", error.valid_up_to());
        StateError::damaged(UNSUPPORTED, detail)
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
        return Err(StateError::damaged(UNSUPPORTED, "The state file is empty."));
    }
    let sniff = match serde_json::from_str::<Sniff<'_>>(text) {
        Ok(sniff) => sniff,
        Err(error) => return Err(not_json(text, &error)),
    };
    let Some(version) = sniff.version.map(RawValue::get) else {
        if sniff.encrypted_data.is_some() {
            let detail = "The state file is encrypted, and no encryption block in the terraform block, nor the environment variable \
                          TF_ENCRYPTION, says how. Add the one with which it was written.";
            return Err(StateError::malformed(UNSUPPORTED, detail));
        }
        let detail = "The file has no \"version\" at its top level, so it is not a state file.";
        return Err(StateError::damaged(UNSUPPORTED, detail));
    };
    let Ok(number) = version.parse::<u64>() else {
        let detail = "The version in the state file is not a whole number.";
        return Err(StateError::damaged(UNSUPPORTED, detail));
    };
    match (number, error) {
        (FORMAT_VERSION, Some(error)) => Err(refusal.unwrap_or_else(|| wrong_types(&error))),
        (FORMAT_VERSION, None) => {
            Err(StateError::damaged(INVALID, "Its version is right, but its content is not a state."))
        }
        _ if LEGACY_VERSIONS.contains(&number) => legacy::read(text, number),
        _ => Err(other_version(number, sniff.terraform_version)),
    }
}

/// Checks `terraform_version` as Terraform does: a state that names no version that could be is damaged, or no state at all. A missing
/// version is fine.
///
/// # Errors
/// The text is not a version.
pub(super) fn check_writer_version(text: &str) -> Result<(), StateError> {
    if text.is_empty() || is_version(text) {
        return Ok(());
    }
    let shown: String = text.chars().take(LONGEST_SHOWN).collect();
    let detail = format!(
        "State file claims to have been written by Terraform version {shown:?}, which is not a valid version string."
    );
    Err(StateError::damaged("Invalid Terraform version string", detail))
}

/// The longest part of an invalid version that the message repeats.
const LONGEST_SHOWN: usize = 40;

/// Whether the text is a version: numbers with dots, and then a prerelease and build metadata if need be. `v1`, `1.5beta` and
/// `1.2.3.4-rc.1+x` are, too, as they are in Terraform.
fn is_version(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (text, metadata) = text.split_once('+').map_or((text, None), |(text, metadata)| (text, Some(metadata)));
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (numbers, rest) = text.split_at(end);
    let prerelease = rest.strip_prefix('-').unwrap_or(rest);
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    numbers.split('.').all(is_number)
        && (rest.is_empty() || has_identifiers(prerelease))
        && metadata.is_none_or(has_identifiers)
}

/// Whether the text consists of identifiers with dots between them.
fn has_identifiers(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '~');
    text.split('.').all(|part| !part.is_empty() && part.chars().all(is_allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_terraform_reads() {
        for version in ["", "1.15.5", "0.6.16", "v1", "1.5.0-rc.1", "1.5beta", "1.2.3.4+build.5", "1.0.0-~x", "999.0.0"]
        {
            assert_eq!(check_writer_version(version), Ok(()), "{version}");
        }
        for text in ["bogus", "1.", ".1", "1..2", "1.2.3-", "1.2.3+", "1.x.2.", "1 2", "1.2.3-rc_1", "\u{661}.2"] {
            let error = check_writer_version(text).unwrap_err();
            assert_eq!(error.summary, "Invalid Terraform version string", "{text}");
        }
    }
}
