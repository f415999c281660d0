//! What is handed on from one step of planning to the next.

use groma_provider::ProviderDiagnostics;
use groma_value::{Path, Value};

/// A plan with everything done that the schema says.
pub(super) struct Prepared {
    pub(super) plan: Value,
    pub(super) requires_replace: Vec<Path>,
    /// Which modifier changed what, for the message about a plan that breaks the rules.
    pub(super) changes: Vec<Change>,
    pub(super) diagnostics: ProviderDiagnostics,
}

/// That a modifier changed a planned value.
pub(in crate::server) struct Change {
    pub(in crate::server) path: Path,
    /// What the modifier does.
    pub(in crate::server) description: String,
}
