//! Semantic versions, with the deviations of HashiCorp's version library.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// A version such as `1.5.0`, `v2.0.0-beta.1` or `3.1.0+linux`.
///
/// Missing segments compare as zero, so `1.2` equals `1.2.0`. Build metadata is ignored in comparisons.
#[derive(Clone, Debug)]
pub struct Version {
    segments: Vec<u64>,
    written: usize,
    prerelease: String,
    metadata: String,
}

/// Error of parsing a version or a version constraint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct VersionError {
    /// The problem, beginning with a lower-case letter.
    pub message: String,
}

impl VersionError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl Version {
    /// Creates a release with three segments.
    pub fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self { segments: vec![major, minor, patch], written: 3, prerelease: String::new(), metadata: String::new() }
    }

    /// Numeric segments, at least three.
    pub fn segments(&self) -> &[u64] {
        &self.segments
    }

    /// Returns the number of segments in the source text: two for `1.2`.
    pub fn written_segments(&self) -> usize {
        self.written
    }

    /// The pre-release without its dash; empty for a release.
    pub fn prerelease(&self) -> &str {
        &self.prerelease
    }

    /// The build metadata without its plus sign; may be empty.
    pub fn metadata(&self) -> &str {
        &self.metadata
    }

    /// Whether the version has a pre-release part.
    pub fn is_prerelease(&self) -> bool {
        !self.prerelease.is_empty()
    }

    /// Returns the segment at `index`, or zero if it is missing.
    pub fn segment(&self, index: usize) -> u64 {
        self.segments.get(index).copied().unwrap_or(0)
    }

    /// Returns the version without pre-release and build metadata.
    #[must_use]
    pub fn release(&self) -> Self {
        Self {
            segments: self.segments.clone(),
            written: self.written,
            prerelease: String::new(),
            metadata: String::new(),
        }
    }

    /// Whether the numeric segments are equal.
    pub(super) fn same_segments(&self, other: &Self) -> bool {
        self.compare_segments(other) == Ordering::Equal
    }

    // Missing segments compare as zero: `1.2` and `1.2.0` must be equal.
    fn compare_segments(&self, other: &Self) -> Ordering {
        let length = self.segments.len().max(other.segments.len());
        (0..length)
            .map(|index| self.segment(index).cmp(&other.segment(index)))
            .find(|o| o.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let malformed = || VersionError::new(format!("malformed version: {text}"));
        let rest = text.strip_prefix('v').unwrap_or(text);
        let (rest, metadata) = rest.split_once('+').map_or((rest, None), |(front, metadata)| (front, Some(metadata)));
        let numbers_end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (numbers, suffix) = rest.split_at(numbers_end);
        // HashiCorp's go-version treats `1.0beta` and `1.0-beta` alike.
        let prerelease = suffix.strip_prefix('-').unwrap_or(suffix);
        let well_formed = |part: &str| {
            part.split('.')
                .all(|p| !p.is_empty() && p.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '~')))
        };
        if !suffix.is_empty() && !well_formed(prerelease) || metadata.is_some_and(|m| !well_formed(m)) {
            return Err(malformed());
        }
        let mut segments = Vec::with_capacity(3);
        // Segments are signed 64-bit numbers in go-version, so larger ones are malformed.
        for part in numbers.split('.') {
            let number = part.parse::<i64>().ok().and_then(|number| u64::try_from(number).ok());
            segments.push(number.ok_or_else(malformed)?);
        }
        let written = segments.len();
        segments.resize(written.max(3), 0);
        Ok(Self {
            segments,
            written,
            prerelease: prerelease.to_owned(),
            metadata: metadata.unwrap_or_default().to_owned(),
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.segments.iter().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            write!(f, "{segment}")?;
        }
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.compare_segments(other).then_with(|| compare_prereleases(&self.prerelease, &other.prerelease))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

impl Hash for Version {
    // Equal versions need equal hashes, so trailing zero segments must not count.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let significant = self.segments.iter().rposition(|segment| *segment != 0).map_or(0, |last| last + 1);
        self.segments.get(..significant).unwrap_or_default().hash(state);
        self.prerelease.hash(state);
    }
}

/// Compares pre-releases: a release is later than its pre-releases; identifiers compare one by one, numbers before
/// words.
fn compare_prereleases(left: &str, right: &str) -> Ordering {
    match (left.is_empty(), right.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let mut left_parts = left.split('.');
    let mut right_parts = right.split('.');
    loop {
        let order = match (left_parts.next(), right_parts.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) => match (a.parse::<u64>(), b.parse::<u64>()) {
                (Ok(x), Ok(y)) => x.cmp(&y),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => a.cmp(b),
            },
        };
        if order.is_ne() {
            return order;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn versions_order_as_semantic_versions() {
        let ascending =
            ["0.1", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0", "1.0.1", "1.10", "2"];
        for pair in ascending.windows(2) {
            assert!(version(pair[0]) < version(pair[1]), "{} < {}", pair[0], pair[1]);
        }
    }

    #[test]
    fn missing_segments_and_build_metadata_are_ignored() {
        assert_eq!(version("1.2"), version("v1.2.0+linux"));
        assert_eq!(version("1.2").to_string(), "1.2.0");
        assert_eq!(version("1.2").written_segments(), 2);
    }

    #[test]
    fn malformed_versions_are_refused() {
        for wrong in ["", "a", "1..2", "1.2.", "1.2.3-", "1.2.3+", "1.2 .3", "99999999999999999999"] {
            assert!(wrong.parse::<Version>().is_err(), "{wrong:?}");
        }
    }
}
