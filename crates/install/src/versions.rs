//! Version selection.

use groma_config::version::{Constraints, Operator, Version};

/// Whether a module version satisfies a constraint. Pre-releases must be requested by their exact number.
pub(crate) fn allows(constraints: &Constraints, version: &Version) -> bool {
    constraints.allow(version) && (!version.is_prerelease() || is_named(constraints, version))
}

/// Whether a constraint requests exactly this version.
pub(crate) fn is_named(constraints: &Constraints, version: &Version) -> bool {
    constraints.iter().any(|constraint| constraint.operator == Operator::Equal && constraint.version == *version)
}
