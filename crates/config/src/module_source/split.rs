//! The folder inside a package, behind `//`.

/// Divides an address at the `//` that is not part of `://`; a query belongs to the package.
pub(super) fn split_subfolder(text: &str) -> (String, String) {
    let stop = text.find('?').unwrap_or(text.len());
    let (place, query) = text.split_at(stop);
    let offset = place.find("://").map_or(0, |at| at + 3);
    let Some(at) = place.get(offset..).and_then(|rest| rest.find("//")).map(|at| at + offset) else {
        return (text.to_owned(), String::new());
    };
    let (package, subfolder) = place.split_at(at);
    (format!("{package}{query}"), subfolder.trim_start_matches('/').to_owned())
}

/// The folder without detours; empty for the package itself.
///
/// # Errors
/// It leads out of the package.
pub(super) fn clean_subfolder(text: &str) -> Result<String, String> {
    let mut steps: Vec<&str> = Vec::new();
    for step in text.split('/') {
        match step {
            "" | "." => {}
            ".." if steps.pop().is_none() => {
                return Err(format!("The folder {text:?} is outside of the package. Name one inside, after the //."));
            }
            ".." => {}
            step => steps.push(step),
        }
    }
    Ok(steps.join("/"))
}
