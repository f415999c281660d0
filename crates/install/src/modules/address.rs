//! Module source addresses: arguments for the installer, patterns, and the form for messages, without credentials.

use std::fs;
use std::path::Path;

use reqwest::Url;

use super::FetchError;

/// Query arguments that select a version or a part, and never hold secrets.
const HARMLESS: [&str; 9] = ["ref", "depth", "archive", "checksum", "filename", "tag", "digest", "region", "version"];

/// Removes passwords, tokens and keys from an address.
pub fn shown(address: &str) -> String {
    let (place, query) = address.split_once('?').map_or((address, None), |(place, query)| (place, Some(query)));
    let mut text = without_user(place);
    if let Some(query) = query {
        text.push('?');
        let mut sign = "";
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            text.push_str(sign);
            if value.is_empty() || HARMLESS.contains(&name) {
                text.push_str(pair);
            } else {
                text.push_str(&format!("{name}=..."));
            }
            sign = "&";
        }
    }
    text
}

/// Removes the token from `https://token@host/x`. The user name of an ssh address stays.
fn without_user(place: &str) -> String {
    let Some((scheme, rest)) = place.split_once("://") else { return place.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    // The last "@" ends the user information, because a password may contain one.
    let Some((user, host)) = authority.rsplit_once('@') else { return place.to_owned() };
    let name = user.split(':').next().unwrap_or_default();
    // ssh authenticates with a key: the user name, usually "git", is not a secret there.
    let is_key = scheme.ends_with("ssh") && !name.is_empty();
    let kept = if is_key { format!("{name}@") } else { String::new() };
    format!("{scheme}://{kept}{host}{path}")
}

/// Removes an argument from the query and returns its value. The first of several counts; an empty one counts as
/// missing.
pub(super) fn take(url: &mut Url, name: &str) -> Option<String> {
    let mut found = None;
    let mut rest = Vec::new();
    for (key, value) in url.query_pairs() {
        if key == name {
            found.get_or_insert(value.into_owned());
        } else {
            rest.push((key.into_owned(), value.into_owned()));
        }
    }
    if found.is_some() {
        url.set_query(None);
        if !rest.is_empty() {
            url.query_pairs_mut().extend_pairs(rest);
        }
    }
    found.filter(|value| !value.is_empty())
}

/// Finds the one directory below `package` that matches `subfolder`, in which `*` and `?` are wildcards.
pub(super) fn expand(package: &Path, subfolder: &str) -> Result<String, FetchError> {
    if !subfolder.contains(['*', '?']) {
        return Ok(subfolder.to_owned());
    }
    let mut found = vec![String::new()];
    for step in subfolder.split('/') {
        // Level by level, so that a wildcard does not match across directories.
        found = found.iter().flat_map(|above| below(package, above, step)).collect();
    }
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(FetchError::Other(format!("no directory of the package matches the pattern {subfolder:?}"))),
        several => Err(FetchError::Other(format!(
            "{} directories of the package match the pattern {subfolder:?}, and only one may match",
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

/// Whether `name` matches the pattern. A leading dot matches only literally.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    if name.first() == Some(&b'.') && pattern.first() != Some(&b'.') {
        return false;
    }
    // The last star and the length of its match: if the rest does not match, it takes one more character.
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
    fn secrets_are_removed_from_addresses() {
        for (address, wanted) in [
            ("git::https://me:s3cret@example.com/a.git?ref=v1", "git::https://example.com/a.git?ref=v1"),
            ("git::https://s3cret@example.com/a.git", "git::https://example.com/a.git"),
            ("https://me:s3@cret@example.com", "https://example.com"),
            (
                "git::ssh://git:s3cret@example.com/a.git?sshkey=s3cret&depth=1",
                "git::ssh://git@example.com/a.git?sshkey=...&depth=1",
            ),
            ("git::ssh://git@example.com/a.git", "git::ssh://git@example.com/a.git"),
            ("git@example.com:a/b.git", "git@example.com:a/b.git"),
            (
                "https://example.com/m.zip?X-Signature=s3cret&archive=zip",
                "https://example.com/m.zip?X-Signature=...&archive=zip",
            ),
            (
                "s3::https://bucket/m.zip?region=eu-west-1&aws_access_key_secret=s3cret",
                "s3::https://bucket/m.zip?region=eu-west-1&aws_access_key_secret=...",
            ),
            ("https://example.com/a@b/m.zip", "https://example.com/a@b/m.zip"),
            ("./local", "./local"),
        ] {
            assert_eq!(shown(address), wanted);
        }
    }

    #[test]
    fn pattern_must_match_one_directory() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["top-1/sub", "top-1/other", ".git"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        assert_eq!(expand(folder.path(), "*").unwrap(), "top-1");
        assert_eq!(expand(folder.path(), "*/s?b").unwrap(), "top-1/sub");
        assert_eq!(expand(folder.path(), "plain/x").unwrap(), "plain/x");
        assert!(expand(folder.path(), "*/*").unwrap_err().to_string().contains("2 directories"));
        assert!(expand(folder.path(), "a*").unwrap_err().to_string().contains("no directory"));
    }

    #[test]
    fn stars_backtrack() {
        assert!(fits(b"a*b*c", b"aXbYbZc"));
        assert!(!fits(b"a*b*c", b"aXc"));
        assert!(fits(b"*", b""));
    }
}
