//! Paths as text: always with slashes, cleaned of `.` and `..` without looking at the disk.

/// The shortest path with the same meaning; the empty path is `.`.
pub(super) fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            // The root is its own parent.
            ".." if rooted => {}
            other => parts.push(other),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// The last element; trailing slashes do not count.
pub(super) fn base(path: &str) -> &str {
    if path.is_empty() {
        return ".";
    }
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() { "/" } else { trimmed.rsplit('/').next().unwrap_or(trimmed) }
}

/// All but the last element, cleaned.
pub(super) fn directory(path: &str) -> String {
    clean(path.rfind('/').map_or("", |end| path.get(..=end).unwrap_or_default()))
}

/// `relative` seen from `base`; absolute paths stay.
pub(super) fn joined(base: &str, relative: &str) -> String {
    if relative.starts_with('/') || base.is_empty() { clean(relative) } else { clean(&format!("{base}/{relative}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_without_the_disk() {
        for (given, cleaned) in [
            ("", "."),
            ("a//b/./c/..", "a/b"),
            ("/..", "/"),
            ("../../a", "../../a"),
            ("a/../..", ".."),
            ("/a/b/", "/a/b"),
        ] {
            assert_eq!(clean(given), cleaned);
        }
    }

    #[test]
    fn a_path_is_its_directory_and_its_base() {
        for (given, dir, name) in [
            ("/a/b.txt", "/a", "b.txt"),
            ("b", ".", "b"),
            ("", ".", "."),
            ("/", "/", "/"),
            ("a/b/", "a/b", "b"),
            ("a//", "a", "a"),
        ] {
            assert_eq!((directory(given).as_str(), base(given)), (dir, name), "{given}");
        }
    }
}
