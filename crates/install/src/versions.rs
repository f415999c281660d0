//! Selection of allowed versions.

use groma_config::version::{Constraints, Operator, Version};

/// Whether the version of a module may be taken. A pre-release must be asked for by its exact number.
pub(crate) fn allows(constraints: &Constraints, version: &Version) -> bool {
    constraints.allow(version) && (!version.is_prerelease() || is_named(constraints, version))
}

/// Whether a constraint asks for exactly this version.
pub(crate) fn is_named(constraints: &Constraints, version: &Version) -> bool {
    constraints.iter().any(|constraint| constraint.operator == Operator::Equal && constraint.version == *version)
}
