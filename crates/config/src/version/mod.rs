//! Versions and version constraints of `required_version`, `required_providers` and module calls.

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

/// The operator of a version constraint.
///
/// Sorted in the order in which Terraform prints constraints with the same version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operator {
    /// `>`: later versions only.
    Greater,
    /// `>=`: this version or later.
    GreaterOrEqual,
    /// `=`, or no operator.
    Equal,
    /// `~>`: only the last written segment may increase.
    Pessimistic,
    /// `<=`: this version or earlier.
    LessOrEqual,
    /// `<`: earlier versions only.
    Less,
    /// `!=`: any version except this one.
    NotEqual,
}

/// A single version constraint.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// Required relation to the version.
    pub operator: Operator,
    /// The version to compare with.
    pub version: Version,
}

/// Compares the number of written segments only for `~>`, where it matters: `~> 1.2` differs from `~> 1.2.0`.
impl PartialEq for Constraint {
    fn eq(&self, other: &Self) -> bool {
        let written = |one: &Self| (one.operator == Operator::Pessimistic).then(|| one.version.written_segments());
        self.operator == other.operator && self.version == other.version && written(self) == written(other)
    }
}

impl Eq for Constraint {}

/// Constraints that must all hold; the empty list allows every version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constraints {
    list: Vec<Constraint>,
}

/// Two-character operators first, so that `>=` is not parsed as `>`.
const OPERATORS: [(&str, Operator); 7] = [
    (">=", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("!=", Operator::NotEqual),
    ("~>", Operator::Pessimistic),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("=", Operator::Equal),
];

impl Constraint {
    /// Whether `version` satisfies the constraint.
    ///
    /// A pre-release satisfies only exact constraints, and ranges whose version is a pre-release of the same release.
    pub fn allows(&self, version: &Version) -> bool {
        match self.operator {
            Operator::Equal => *version == self.version,
            Operator::NotEqual => *version != self.version,
            Operator::Greater => self.comparable(version) && *version > self.version,
            Operator::GreaterOrEqual => self.comparable(version) && *version >= self.version,
            Operator::Less => self.comparable(version) && *version < self.version,
            Operator::LessOrEqual => self.comparable(version) && *version <= self.version,
            Operator::Pessimistic => self.allows_within_last_segment(version),
        }
    }

    fn comparable(&self, version: &Version) -> bool {
        !version.is_prerelease() || (self.version.is_prerelease() && version.same_segments(&self.version))
    }

    fn allows_within_last_segment(&self, version: &Version) -> bool {
        // `~> 1.0-beta` must not select 1.0 itself: go-version compares pre-releases with pre-releases only.
        if self.version.is_prerelease() && !version.is_prerelease() {
            return false;
        }
        // `~> 1.2.3` fixes 1.2, `~> 1.2` fixes 1, and `~> 1` fixes nothing.
        let fixed = self.version.written_segments().saturating_sub(1);
        self.comparable(version)
            && *version >= self.version
            && (0..fixed).all(|index| version.segment(index) == self.version.segment(index))
    }
}

impl Constraints {
    /// Whether all constraints allow `version`.
    pub fn allow(&self, version: &Version) -> bool {
        self.list.iter().all(|constraint| constraint.allows(version))
    }

    /// Whether the list has no constraints.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Parses the constraints on a provider's version, which must be semantic: three segments or fewer, no `v` prefix,
    /// and a dash before the pre-release.
    ///
    /// # Errors
    ///
    /// A constraint is malformed or not semantic.
    pub fn of_provider(text: &str) -> Result<Self, VersionError> {
        let constraints = text.parse()?;
        match text.split(',').map(str::trim).find(|constraint| !is_semantic(constraint)) {
            Some(constraint) => Err(VersionError::new(format!("malformed constraint: {constraint}"))),
            None => Ok(constraints),
        }
    }

    /// Iterates over the constraints in source order.
    pub fn iter(&self) -> std::slice::Iter<'_, Constraint> {
        self.list.iter()
    }

    /// Adds the constraints of `other` that are not in the list yet.
    pub fn merge(&mut self, other: &Self) {
        for constraint in &other.list {
            if !self.list.contains(constraint) {
                self.list.push(constraint.clone());
            }
        }
    }
}

/// Splits a constraint into its operator and the rest.
fn operator_of(constraint: &str) -> (Operator, &str) {
    OPERATORS
        .iter()
        .find_map(|(symbol, operator)| constraint.strip_prefix(symbol).map(|rest| (*operator, rest)))
        .unwrap_or((Operator::Equal, constraint))
}

/// Whether the version of a constraint is semantic and follows its operator after one space or none.
fn is_semantic(constraint: &str) -> bool {
    let (_, rest) = operator_of(constraint);
    let version = rest.strip_prefix(' ').unwrap_or(rest);
    let (numbers, suffix) =
        version.split_at(version.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(version.len()));
    let begins_well = suffix.is_empty() || suffix.starts_with(['-', '+']);
    !numbers.is_empty() && numbers.split('.').count() <= 3 && begins_well && !suffix.contains('~')
}

impl FromStr for Constraint {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let trimmed = text.trim();
        let (operator, rest) = operator_of(trimmed);
        let rest = rest.trim_start();
        // go-version accepts a trailing dash and ignores it.
        let rest = rest.strip_suffix('-').filter(|rest| rest.ends_with(|c: char| c.is_ascii_digit())).unwrap_or(rest);
        let version = rest.parse().map_err(|_| VersionError::new(format!("malformed constraint: {trimmed}")))?;
        Ok(Self { operator, version })
    }
}

impl FromStr for Constraints {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        // An empty string is malformed rather than an empty list, as in Terraform.
        let list = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
        Ok(Self { list })
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let symbol = match self.operator {
            Operator::Equal => "",
            Operator::NotEqual => "!= ",
            Operator::Greater => "> ",
            Operator::GreaterOrEqual => ">= ",
            Operator::Less => "< ",
            Operator::LessOrEqual => "<= ",
            Operator::Pessimistic => "~> ",
        };
        f.write_str(symbol)?;
        if self.operator != Operator::Pessimistic || self.version.written_segments() >= self.version.segments().len() {
            return write!(f, "{}", self.version);
        }
        // Printed with the written number of segments, which determines the meaning of `~>`.
        for index in 0..self.version.written_segments() {
            let dot = if index == 0 { "" } else { "." };
            write!(f, "{dot}{}", self.version.segment(index))?;
        }
        if self.version.is_prerelease() {
            write!(f, "-{}", self.version.prerelease())?;
        }
        Ok(())
    }
}

impl fmt::Display for Constraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, constraint) in self.list.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{constraint}")?;
        }
        Ok(())
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

    fn allows(constraints: &str, version: &str) -> bool {
        constraints.parse::<Constraints>().unwrap().allow(&version.parse().unwrap())
    }

    #[test]
    fn merge_keeps_constraints_of_different_precision() {
        let mut both: Constraints = "~> 1.2, >= 1.0".parse().unwrap();
        both.merge(&"~> 1.2.0, >= 1.0.0".parse().unwrap());
        assert_eq!(both.to_string(), "~> 1.2, >= 1.0.0, ~> 1.2.0");
    }

    #[test]
    fn operators_allow_and_refuse() {
        for (constraints, allowed, refused) in [
            ("1.2.3", "1.2.3", "1.2.4"),
            ("= 1.2", "1.2.0", "1.2.1"),
            ("!= 1.2.3", "1.2.4", "1.2.3"),
            ("> 1.2", "1.2.1", "1.2.0"),
            (">=1.2", "1.2.0", "1.1.9"),
            ("< 2.0, >= 1.0", "1.9.9", "2.0.0"),
            ("<= 2", "2.0.0", "2.0.1"),
            ("~> 1.2", "1.9.0", "2.0.0"),
            ("~> 1.2.3", "1.2.9", "1.3.0"),
            ("~> 1", "9.0.0", "0.9.0"),
        ] {
            assert!(allows(constraints, allowed), "{constraints} allows {allowed}");
            assert!(!allows(constraints, refused), "{constraints} refuses {refused}");
        }
    }

    #[test]
    fn pre_releases_need_an_explicit_constraint() {
        assert!(!allows(">= 1.0.0", "1.5.0-beta1"));
        assert!(allows(">= 1.5.0-alpha", "1.5.0-beta1"));
        assert!(!allows(">= 1.4.0-alpha", "1.5.0-beta1"));
        assert!(allows("1.5.0-beta1", "1.5.0-beta1"));
        assert!(!allows("~> 1.5.0-beta", "1.5.1"));
    }

    #[test]
    fn trailing_dash_is_ignored() {
        assert!(allows("> 1.0-", "1.0.1") && !allows("> 1.0-", "1.0.0"));
        assert!(allows("1.0.0-", "1.0.0") && !allows("1.0.0-", "1.0.0-beta"));
        assert!("-".parse::<Constraints>().is_err());
    }

    #[test]
    fn constraints_print_significant_segments() {
        let printed = |text: &str| text.parse::<Constraints>().unwrap().to_string();
        assert_eq!(printed("~>1.2,>=1.0, !=1.5"), "~> 1.2, >= 1.0.0, != 1.5.0");
    }

    #[test]
    fn provider_versions_must_be_semantic() {
        for (constraints, is_fine) in [
            ("~> 1.0-beta, >=1,  < 2.0.0+x ", true),
            ("v1.0.0", false),
            (">= v1", false),
            ("1, 1.2.3.4", false),
            ("1.0.0beta", false),
            ("1.0.0-a~b", false),
            (">  1", false),
            ("1.0.x", false),
        ] {
            assert_eq!(Constraints::of_provider(constraints).is_ok(), is_fine, "{constraints}");
            assert!(constraints == "1.0.x" || constraints.parse::<Constraints>().is_ok(), "{constraints}");
        }
    }

    #[test]
    fn malformed_constraints_are_quoted_in_the_error() {
        for wrong in ["", ">= ", "abc", ">= 1.0,", "=> 1.0", "~ 1.0"] {
            let error = wrong.parse::<Constraints>().unwrap_err();
            assert!(error.message.starts_with("malformed constraint"), "{wrong}: {error}");
        }
    }
}
