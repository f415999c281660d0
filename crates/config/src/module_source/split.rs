//! Splitting of the subdirectory after `//` from a package address.

use super::error::SourceAddressError;

/// Splits an address at the first `//` that is not part of `://`; a query string stays with the package.
pub(super) fn split_subfolder(text: &str) -> (String, String) {
    // A query may contain `//`, as in `?url=https://…`.
    let stop = text.find('?').unwrap_or(text.len());
    let (path, query) = text.split_at(stop);
    let offset = path.find("://").map_or(0, |at| at + 3);
    let Some(at) = path.get(offset..).and_then(|rest| rest.find("//")).map(|at| at + offset) else {
        return (text.to_owned(), String::new());
    };
    let (package, subfolder) = path.split_at(at);
    (format!("{package}{query}"), subfolder.trim_start_matches('/').to_owned())
}

/// Normalizes a subdirectory; empty for the package's root.
///
/// # Errors
/// The subdirectory is outside of the package.
pub(super) fn clean_subfolder(text: &str) -> Result<String, SourceAddressError> {
    let mut steps: Vec<&str> = Vec::new();
    for step in text.split('/') {
        match step {
            "" | "." => {}
            ".." if steps.pop().is_none() => {
                return Err(SourceAddressError::Outside(text.to_owned()));
            }
            ".." => {}
            step => steps.push(step),
        }
    }
    Ok(steps.join("/"))
}
