//! Placeholders of redacted values that are spelled outside of the one module that has them.
//!
//! A renderer that spells a placeholder decides on its own what is hidden. With `groma_value::Redacted` there is one
//! decision for all of them.

use std::fs;
use std::path::PathBuf;

use crate::structure::code;

/// The module that has the placeholders.
const OWNER: &str = "crates/value/src/redaction.rs";

/// The placeholders, as string literals begin with them.
const PLACEHOLDERS: [&str; 4] =
    ["(sensitive value)", "(ephemeral value)", "(ephemeral sensitive value)", "(write-only attribute)"];

/// Returns an error that lists every placeholder spelled in `files`.
pub fn check(files: &[PathBuf]) -> Result<(), String> {
    let mut problems = Vec::new();
    for path in files.iter().filter(|path| !path.ends_with(OWNER)) {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        problems.extend(spelled(&text).map(|placeholder| format!("{}: {placeholder}", path.display())));
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(format!("placeholders outside of {OWNER}:\n  {}\nUse groma_value::Redacted.", problems.join("\n  ")))
}

/// Returns the placeholders that the code of a file spells.
fn spelled(text: &str) -> impl Iterator<Item = &'static str> + use<> {
    let code = code(text);
    PLACEHOLDERS.into_iter().filter(move |placeholder| code.contains(placeholder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spelled_placeholder_is_found_in_code_only() {
        assert_eq!(spelled("out.push_str(\"(sensitive value)\");").count(), 1);
        assert_eq!(spelled("/// Writes `(sensitive value)`.\nfn write() {}").count(), 0);
        assert_eq!(spelled("#[cfg(test)]\nmod tests { const A: &str = \"(sensitive value)\"; }").count(), 0);
    }
}
