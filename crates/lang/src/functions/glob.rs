//! Patterns of file names: `*`, `?`, `[a-z]`, `{a,b}`, and `**` for any number of folders.

use std::collections::BTreeSet;
use std::path::Path;

use thiserror::Error;

/// Maximal number of patterns that braces expand to.
const MOST_ALTERNATIVES: usize = 4_096;
/// Maximal depth of the directory search.
const DEEPEST: usize = 256;

/// The reason why a pattern of file names cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum GlobError {
    #[error("the braces expand to too many patterns")]
    TooManyAlternatives,
    #[error("syntax error in pattern: a brace is not closed")]
    OpenBrace,
    #[error("syntax error in pattern: a bracket is not closed")]
    OpenBracket,
    #[error("syntax error in pattern: nothing follows a backslash")]
    LoneBackslash,
}

/// The regular files under `root` that match, relative to it, with slashes.
pub(super) fn matching_files(root: &Path, pattern: &str) -> Result<BTreeSet<String>, GlobError> {
    let mut found = BTreeSet::new();
    for alternative in expanded(pattern)? {
        let cleaned = super::paths::clean(&alternative);
        let segments: Vec<&str> = cleaned.split('/').collect();
        for segment in &segments {
            matches_name(&segment.chars().collect::<Vec<_>>(), &[])?;
        }
        search(root, &mut Vec::new(), &segments, &mut found)?;
    }
    Ok(found)
}

/// Expands the braces of a pattern.
fn expanded(pattern: &str) -> Result<Vec<String>, GlobError> {
    let mut done = Vec::new();
    let mut pending = vec![pattern.to_owned()];
    while let Some(next) = pending.pop() {
        if done.len() + pending.len() > MOST_ALTERNATIVES {
            return Err(GlobError::TooManyAlternatives);
        }
        match first_braces(&next)? {
            None => done.push(next),
            Some((start, end, commas)) => {
                let bounds: Vec<usize> = std::iter::once(start).chain(commas).chain([end]).collect();
                for pair in bounds.windows(2) {
                    let [from, to] = pair else { continue };
                    let inside = next.get(from + 1..*to).unwrap_or_default();
                    let before = next.get(..start).unwrap_or_default();
                    let after = next.get(end + 1..).unwrap_or_default();
                    pending.push(format!("{before}{inside}{after}"));
                }
            }
        }
    }
    Ok(done)
}

type Braces = (usize, usize, Vec<usize>);

fn first_braces(pattern: &str) -> Result<Option<Braces>, GlobError> {
    let mut depth = 0_usize;
    let mut start = 0;
    let mut commas = Vec::new();
    let mut escaped = false;
    for (at, byte) in pattern.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'{' => {
                if depth == 0 {
                    start = at;
                }
                depth += 1;
            }
            b',' if depth == 1 => commas.push(at),
            b'}' if depth == 1 => return Ok(Some((start, at, commas))),
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    if depth > 0 { Err(GlobError::OpenBrace) } else { Ok(None) }
}

fn search(root: &Path, at: &mut Vec<String>, segments: &[&str], found: &mut BTreeSet<String>) -> Result<(), GlobError> {
    let Some((segment, rest)) = segments.split_first() else { return Ok(()) };
    if at.len() > DEEPEST {
        return Ok(());
    }
    let folder = at.iter().fold(root.to_owned(), |path, name| path.join(name));
    if *segment == "**" {
        search(root, at, if rest.is_empty() { &["*"] } else { rest }, found)?;
        for (name, kind) in entries(&folder) {
            // Links are not followed, so that a loop of them ends.
            if kind.is_dir() {
                at.push(name);
                search(root, at, segments, found)?;
                at.pop();
            }
        }
        return Ok(());
    }
    if matches!(*segment, "." | "..") {
        at.push((*segment).to_owned());
        search(root, at, rest, found)?;
        at.pop();
        return Ok(());
    }
    let pattern: Vec<char> = segment.chars().collect();
    for (name, _) in entries(&folder) {
        if !matches_name(&pattern, &name.chars().collect::<Vec<_>>())? {
            continue;
        }
        if rest.is_empty() {
            let path = folder.join(&name);
            if path.metadata().is_ok_and(|metadata| metadata.is_file()) {
                let names = at.iter().map(String::as_str).chain([name.as_str()]);
                found.insert(super::paths::clean(&names.collect::<Vec<_>>().join("/")));
            }
        } else {
            at.push(name);
            search(root, at, rest, found)?;
            at.pop();
        }
    }
    Ok(())
}

/// Returns the entries of a directory; none if it cannot be read.
fn entries(folder: &Path) -> Vec<(String, std::fs::FileType)> {
    let Ok(read) = std::fs::read_dir(folder) else { return Vec::new() };
    read.flatten().filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.file_type().ok()?))).collect()
}

/// Whether a name matches a pattern without slashes and braces.
fn matches_name(pattern: &[char], name: &[char]) -> Result<bool, GlobError> {
    // The last star and the text that it matches so far: a later mismatch extends that text.
    let mut retry: Option<(usize, usize)> = None;
    let (mut at, mut in_name) = (0, 0);
    loop {
        let step = match pattern.get(at) {
            None if in_name == name.len() => return check_rest(pattern, at),
            None => None,
            Some('*') => {
                retry = Some((at, in_name));
                Some((at + 1, in_name))
            }
            Some('[') => {
                let (end, matched) = class(pattern, at, name.get(in_name).copied())?;
                matched.then_some((end, in_name + 1))
            }
            Some('?') => (in_name < name.len()).then_some((at + 1, in_name + 1)),
            Some('\\') => {
                let wanted = pattern.get(at + 1).ok_or(GlobError::LoneBackslash)?;
                (name.get(in_name) == Some(wanted)).then_some((at + 2, in_name + 1))
            }
            Some(wanted) => (name.get(in_name) == Some(wanted)).then_some((at + 1, in_name + 1)),
        };
        (at, in_name) = match (step, retry) {
            (Some(next), _) => next,
            (None, Some((star, taken))) if taken < name.len() => {
                retry = Some((star, taken + 1));
                (star + 1, taken + 1)
            }
            (None, _) => return check_rest(pattern, at).map(|_| false),
        };
    }
}

/// Makes sure that the part of a pattern that was not needed is one.
fn check_rest(pattern: &[char], from: usize) -> Result<bool, GlobError> {
    let mut at = from;
    while let Some(character) = pattern.get(at) {
        match character {
            '[' => at = class(pattern, at, None)?.0,
            '\\' if pattern.get(at + 1).is_none() => {
                return Err(GlobError::LoneBackslash);
            }
            '\\' => at += 2,
            _ => at += 1,
        }
    }
    Ok(true)
}

/// Reads `[...]` at `at`: where it ends, and whether it holds `wanted`.
fn class(pattern: &[char], at: usize, wanted: Option<char>) -> Result<(usize, bool), GlobError> {
    let mut at = at + 1;
    let negated = matches!(pattern.get(at), Some('^' | '!'));
    if negated {
        at += 1;
    }
    let first = at;
    let mut holds = false;
    loop {
        let low = match pattern.get(at).ok_or(GlobError::OpenBracket)? {
            ']' if at > first => break,
            '\\' => {
                at += 1;
                *pattern.get(at).ok_or(GlobError::OpenBracket)?
            }
            other => *other,
        };
        at += 1;
        let mut high = low;
        if pattern.get(at) == Some(&'-') && pattern.get(at + 1).is_some_and(|next| *next != ']') {
            high = *pattern.get(at + 1).ok_or(GlobError::OpenBracket)?;
            at += 2;
        }
        holds |= wanted.is_some_and(|wanted| (low..=high).contains(&wanted));
    }
    Ok((at + 1, wanted.is_some() && holds != negated))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_patterns() {
        for (pattern, name, wanted) in [
            ("*.txt", "a.txt", true),
            ("*.txt", ".txt", true),
            ("*.txt", "a.tx", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("[a-c]*", "bx", true),
            ("[^a-c]*", "bx", false),
            ("[]]", "]", true),
            ("*a*b*", "xaxxbx", true),
            ("*a*b", "xab", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("é?", "éa", true),
        ] {
            let characters = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(matches_name(&characters(pattern), &characters(name)), Ok(wanted), "{pattern} {name}");
        }
        assert!(matches_name(&['['], &['a']).is_err());
        assert!(matches_name(&['\\'], &['a']).is_err());
    }

    #[test]
    fn files_are_found_in_any_depth() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["a.txt", "b.md", "x/c.txt", "x/y/d.txt"] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let found =
            |pattern: &str| matching_files(folder.path(), pattern).unwrap().into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(found("*"), "a.txt b.md");
        assert_eq!(found("**"), "a.txt b.md x/c.txt x/y/d.txt");
        assert_eq!(found("**/*.txt"), "a.txt x/c.txt x/y/d.txt");
        assert_eq!(found("{a,b}.*"), "a.txt b.md");
        assert_eq!(found("x/**/{c,d}.txt"), "x/c.txt x/y/d.txt");
        assert_eq!(found("none/*"), "");
        assert!(matching_files(folder.path(), "{a").is_err());
    }
}
