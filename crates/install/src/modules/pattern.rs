//! Folders named by a pattern.

use std::fs;
use std::path::Path;

use super::error::FetchError;

/// Returns the only directory below `package` that matches `subfolder`, with the wildcards `*` and `?`.
pub(super) fn expand(package: &Path, subfolder: &str) -> Result<String, FetchError> {
    if !subfolder.contains(['*', '?']) {
        return Ok(subfolder.to_owned());
    }
    let mut found = vec![String::new()];
    for step in subfolder.split('/') {
        found = found.iter().flat_map(|above| below(package, above, step)).collect();
    }
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(FetchError::Other(format!("no folder of the package fits the pattern {subfolder:?}"))),
        several => Err(FetchError::Other(format!(
            "{} folders of the package fit the pattern {subfolder:?}, and only one may",
            several.len()
        ))),
    }
}

fn below(package: &Path, above: &str, step: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(package.join(above)) else { return Vec::new() };
    let names = entries
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok());
    let joined = |name: String| if above.is_empty() { name } else { format!("{above}/{name}") };
    names.filter(|name| fits(step.as_bytes(), name.as_bytes())).map(joined).collect()
}

/// Whether `name` fits; hidden folders need their dot written out.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    if name.first() == Some(&b'.') && pattern.first() != Some(&b'.') {
        return false;
    }
    // The last star and how much of the name it has taken so far: if what follows does not fit it takes one more.
    let (mut at, mut pos) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(byte) = name.get(pos) {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, pos));
                at += 1;
            }
            Some(wanted) if wanted == byte || *wanted == b'?' => (at, pos) = (at + 1, pos + 1),
            _ => match &mut star {
                Some((begin, taken)) => {
                    *taken += 1;
                    (at, pos) = (*begin + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_folder_must_fit() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["top-1/sub", "top-1/other", ".git"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        assert_eq!(expand(folder.path(), "*").unwrap(), "top-1");
        assert_eq!(expand(folder.path(), "*/s?b").unwrap(), "top-1/sub");
        assert_eq!(expand(folder.path(), "plain/x").unwrap(), "plain/x");
        assert!(expand(folder.path(), "*/*").unwrap_err().to_string().contains("2 folders"));
        assert!(expand(folder.path(), "a*").unwrap_err().to_string().contains("no folder"));
    }

    #[test]
    fn stars_take_as_much_as_they_need() {
        assert!(fits(b"a*b*c", b"aXbYbZc"));
        assert!(!fits(b"a*b*c", b"aXc"));
        assert!(fits(b"*", b""));
    }
}
