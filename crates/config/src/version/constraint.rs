//! Version constraints: `>= 1.2, < 2.0`, `~> 1.4`.

use std::fmt;
use std::str::FromStr;

use super::number::{Version, VersionError};

/// The relation of a version to the one in the constraint.
///
/// In the order in which Terraform lists constraints about the same version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operator {
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
    /// `=` or nothing.
    Equal,
    /// `~>`: only the last written segment may grow.
    Pessimistic,
    /// `<=`.
    LessOrEqual,
    /// `<`.
    Less,
    /// `!=`.
    NotEqual,
}

/// One condition on a version.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// The relation to the version.
    pub operator: Operator,
    /// The version to compare with.
    pub version: Version,
}

/// `~> 1.2` is not `~> 1.2.0`: the number of segments is significant. For other operators they are the same version.
impl PartialEq for Constraint {
    fn eq(&self, other: &Self) -> bool {
        let written = |one: &Self| (one.operator == Operator::Pessimistic).then(|| one.version.written_segments());
        self.operator == other.operator && self.version == other.version && written(self) == written(other)
    }
}

impl Eq for Constraint {}

/// Conditions that must all hold; none at all allows every version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constraints {
    list: Vec<Constraint>,
}

/// Longest first, so that `>=` is not read as `>`.
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
    /// Whether `version` is allowed.
    ///
    /// A pre-release is only allowed by a constraint that names a pre-release of the same release, or that version.
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
        if self.version.is_prerelease() && !version.is_prerelease() {
            return false;
        }
        let fixed = self.version.written_segments().saturating_sub(1);
        self.comparable(version)
            && *version >= self.version
            && (0..fixed).all(|index| version.segment(index) == self.version.segment(index))
    }
}

impl Constraints {
    /// Whether all of them allow `version`.
    pub fn allow(&self, version: &Version) -> bool {
        self.list.iter().all(|constraint| constraint.allows(version))
    }

    /// Whether there are no constraints.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Parses constraints on a provider, whose versions are semantic: at most three numbers, without a `v`, and with a dash
    /// before a pre-release.
    ///
    /// # Errors
    ///
    /// One of them is none.
    pub fn of_provider(text: &str) -> Result<Self, VersionError> {
        let constraints = text.parse()?;
        match text.split(',').map(str::trim).find(|constraint| !is_semantic(constraint)) {
            Some(constraint) => Err(VersionError::new(format!("malformed constraint: {constraint}"))),
            None => Ok(constraints),
        }
    }

    /// Each of them, as written.
    pub fn iter(&self) -> std::slice::Iter<'_, Constraint> {
        self.list.iter()
    }

    /// Both together; a constraint that is in both stands once.
    pub fn merge(&mut self, other: &Self) {
        for constraint in &other.list {
            if !self.list.contains(constraint) {
                self.list.push(constraint.clone());
            }
        }
    }
}

/// Splits the operator from the start of `constraint`.
fn operator_of(constraint: &str) -> (Operator, &str) {
    OPERATORS
        .iter()
        .find_map(|(symbol, operator)| constraint.strip_prefix(symbol).map(|rest| (*operator, rest)))
        .unwrap_or((Operator::Equal, constraint))
}

/// Whether the version in a constraint is written as semantic versions are, after one space at most.
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
        // A dash with nothing behind it names no pre-release.
        let rest = rest.strip_suffix('-').filter(|rest| rest.ends_with(|c: char| c.is_ascii_digit())).unwrap_or(rest);
        let version = rest.parse().map_err(|_| VersionError::new(format!("malformed constraint: {trimmed}")))?;
        Ok(Self { operator, version })
    }
}

impl FromStr for Constraints {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
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
        // The number of segments is significant for `~>`.
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

    fn allows(constraints: &str, version: &str) -> bool {
        constraints.parse::<Constraints>().unwrap().allow(&version.parse().unwrap())
    }

    #[test]
    fn merging_keeps_what_allows_less() {
        let mut both: Constraints = "~> 1.2, >= 1.0".parse().unwrap();
        both.merge(&"~> 1.2.0, >= 1.0.0".parse().unwrap());
        assert_eq!(both.to_string(), "~> 1.2, >= 1.0.0, ~> 1.2.0");
    }

    #[test]
    fn every_operator_means_what_the_field_says() {
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
    fn a_pre_release_has_to_be_asked_for() {
        assert!(!allows(">= 1.0.0", "1.5.0-beta1"));
        assert!(allows(">= 1.5.0-alpha", "1.5.0-beta1"));
        assert!(!allows(">= 1.4.0-alpha", "1.5.0-beta1"));
        assert!(allows("1.5.0-beta1", "1.5.0-beta1"));
        assert!(!allows("~> 1.5.0-beta", "1.5.1"));
    }

    #[test]
    fn a_dash_with_nothing_behind_it_names_no_pre_release() {
        assert!(allows("> 1.0-", "1.0.1") && !allows("> 1.0-", "1.0.0"));
        assert!(allows("1.0.0-", "1.0.0") && !allows("1.0.0-", "1.0.0-beta"));
        assert!("-".parse::<Constraints>().is_err());
    }

    #[test]
    fn constraints_print_with_the_segments_that_matter() {
        let printed = |text: &str| text.parse::<Constraints>().unwrap().to_string();
        assert_eq!(printed("~>1.2,>=1.0, !=1.5"), "~> 1.2, >= 1.0.0, != 1.5.0");
    }

    #[test]
    fn versions_of_providers_are_semantic() {
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
    fn wrong_constraints_are_refused_with_the_text_at_fault() {
        for wrong in ["", ">= ", "abc", ">= 1.0,", "=> 1.0", "~ 1.0"] {
            let error = wrong.parse::<Constraints>().unwrap_err();
            assert!(error.message.starts_with("malformed constraint"), "{wrong}: {error}");
        }
    }
}
