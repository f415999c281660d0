//! The version of the program that wrote a state file.

use super::refusal::RESTORE;
use crate::error::StateError;

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
        "State file claims to have been written by Terraform version {shown:?}, which is not a valid version string. {RESTORE}"
    );
    Err(StateError::malformed("Invalid Terraform version string", detail))
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
