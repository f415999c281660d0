//! The choice between a built-in provider and the plugin of the same address.

use std::fmt;
use std::str::FromStr;

use groma_config::version::{Constraints, Version};

use super::constraints::{allows, constraints_text};

/// The explicit choice of a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// The built-in provider runs wherever versions allow it.
    #[default]
    Builtin,
    /// The plugin runs.
    Plugin,
}

/// The error of a preference that is neither `builtin` nor `plugin`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is neither \"builtin\" nor \"plugin\"")]
pub struct InvalidPreference(String);

impl FromStr for Preference {
    type Err = InvalidPreference;

    fn from_str(text: &str) -> Result<Self, InvalidPreference> {
        match text {
            "builtin" => Ok(Self::Builtin),
            "plugin" => Ok(Self::Plugin),
            other => Err(InvalidPreference(other.to_owned())),
        }
    }
}

/// The implementation that runs, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuiltinChoice {
    /// The built-in provider answers as this version.
    Builtin(Version, BuiltinReason),
    /// The plugin runs.
    Plugin(PluginReason),
}

/// The reason for a built-in provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuiltinReason {
    /// Nothing restricts the version.
    Unrestricted,
    /// The version constraints allow it.
    Allowed(Constraints),
    /// The lock file selects a version that it answers as.
    Locked,
}

/// The reason for the plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginReason {
    /// The user has chosen it.
    Preferred,
    /// The lock file selects a version before the ones that the built-in provider answers as.
    Locked(Version),
    /// The version constraints allow only such versions.
    Required(Constraints),
}

impl BuiltinChoice {
    /// Chooses the implementation of a provider that is built in and answers as version `first` or any later one.
    pub fn new(first: &Version, constraints: &Constraints, lock: Option<&Version>, preference: Preference) -> Self {
        if preference == Preference::Plugin {
            return Self::Plugin(PluginReason::Preferred);
        }
        match lock {
            Some(locked) if locked < first => return Self::Plugin(PluginReason::Locked(locked.clone())),
            Some(locked) if allows(constraints, locked) => {
                return Self::Builtin(locked.clone(), BuiltinReason::Locked);
            }
            // A lock that contradicts the constraints selects nothing.
            _ => {}
        }
        match answer(first, constraints) {
            Some(version) if constraints.is_empty() => Self::Builtin(version, BuiltinReason::Unrestricted),
            Some(version) => Self::Builtin(version, BuiltinReason::Allowed(constraints.clone())),
            None => Self::Plugin(PluginReason::Required(constraints.clone())),
        }
    }
}

/// Returns the first version from `first` on that constraints allow. Constraints bound versions by those they name, so
/// only these and their successors need a try.
fn answer(first: &Version, constraints: &Constraints) -> Option<Version> {
    let named = constraints.iter().map(|constraint| &constraint.version).filter(|version| *version >= first);
    let near = |version: &Version| {
        let [major, minor, patch] = [0, 1, 2].map(|index| version.segment(index));
        [
            version.clone(),
            Version::new(major, minor, patch.saturating_add(1)),
            Version::new(major, minor.saturating_add(1), 0),
            Version::new(major.saturating_add(1), 0, 0),
        ]
    };
    let mut candidates: Vec<Version> = std::iter::once(first).chain(named).flat_map(near).collect();
    candidates.sort();
    candidates.into_iter().find(|version| version >= first && allows(constraints, version))
}

impl fmt::Display for BuiltinReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unrestricted => formatter.write_str("no version constraint asks for another version"),
            Self::Allowed(constraints) => {
                write!(formatter, "the version constraints \"{}\" allow it", constraints_text(constraints))
            }
            Self::Locked => formatter.write_str("the dependency lock file selects this version"),
        }
    }
}

impl fmt::Display for PluginReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preferred => formatter.write_str("the settings choose it"),
            Self::Locked(version) => write!(formatter, "the dependency lock file selects version {version}"),
            Self::Required(constraints) => {
                write!(formatter, "the version constraints are \"{}\"", constraints_text(constraints))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(constraints: &str, lock: Option<&str>) -> BuiltinChoice {
        let constraints = match constraints {
            "" => Constraints::default(),
            text => Constraints::of_provider(text).unwrap(),
        };
        let lock = lock.map(|lock| lock.parse().unwrap());
        BuiltinChoice::new(&Version::new(1, 97, 0), &constraints, lock.as_ref(), Preference::Builtin)
    }

    fn version(choice: &BuiltinChoice) -> Option<String> {
        match choice {
            BuiltinChoice::Builtin(version, _) => Some(version.to_string()),
            BuiltinChoice::Plugin(_) => None,
        }
    }

    #[test]
    fn constraints_select_a_version_of_the_builtin_provider() {
        for (constraints, expected) in [
            ("", Some("1.97.0")),
            ("~> 1.0", Some("1.97.0")),
            (">= 0.70", Some("1.97.0")),
            ("~> 1.105.0", Some("1.105.0")),
            ("1.99.2", Some("1.99.2")),
            ("> 1.98.0", Some("1.98.1")),
            ("!= 1.97.0", Some("1.97.1")),
            ("~> 1.96.0", None),
            ("~> 0.70", None),
            ("< 1.50", None),
        ] {
            assert_eq!(version(&choice(constraints, None)).as_deref(), expected, "{constraints}");
        }
    }

    #[test]
    fn the_lock_file_selects_a_version() {
        assert_eq!(
            choice("~> 1.0", Some("1.98.0")),
            BuiltinChoice::Builtin(Version::new(1, 98, 0), BuiltinReason::Locked)
        );
        let old = choice("~> 1.0", Some("1.60.0"));
        assert_eq!(old, BuiltinChoice::Plugin(PluginReason::Locked(Version::new(1, 60, 0))));
        assert_eq!(version(&choice("~> 1.99.0", Some("1.98.0"))).as_deref(), Some("1.99.0"));
    }

    #[test]
    fn the_preference_decides_before_versions() {
        let none = Constraints::default();
        let chosen = BuiltinChoice::new(&Version::new(1, 97, 0), &none, None, "plugin".parse().unwrap());
        assert_eq!(chosen, BuiltinChoice::Plugin(PluginReason::Preferred));
        assert!("both".parse::<Preference>().is_err());
    }
}
