//! Intermediate results of planning.

use groma_provider::ProviderDiagnostics;
use groma_value::{Path, Value};

use crate::server::consistency::Change;

/// A plan with everything done that the schema says.
pub(super) struct Prepared {
    pub(super) plan: Value,
    pub(super) requires_replace: Vec<Path>,
    /// The changes of each modifier, for the message about a plan that breaks the rules.
    pub(super) changes: Vec<Change>,
    pub(super) diagnostics: ProviderDiagnostics,
}
