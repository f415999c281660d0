//! Which versions may be taken.

use groma_config::version::{Constraints, Operator, Version};

/// Whether the version may be taken. A pre-release must be asked for by its exact number.
pub(crate) fn allows(constraints: &Constraints, version: &Version) -> bool {
    let is_named = || {
        constraints.iter().any(|constraint| constraint.operator == Operator::Equal && constraint.version == *version)
    };
    constraints.allow(version) && (!version.is_prerelease() || is_named())
}
