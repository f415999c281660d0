//! Deferral of a call to a later run.

use groma_provider::{ClientCapabilities, Deferred, ProviderDiagnostic, ProviderDiagnostics};

/// The reason why a call cannot be answered yet: for example, the object's cluster does not exist, or an essential argument is
/// unknown. A host that supports deferred changes receives the reason and repeats the call in a later run; any other host receives the
/// problem as an error. Providers need not distinguish the two.
///
/// Reads, plans, imports, data sources and ephemeral resources can be deferred. An apply must succeed or fail.
#[derive(Clone, Debug)]
pub struct NotYet {
    reason: Deferred,
    problem: ProviderDiagnostic,
}

impl NotYet {
    /// Creates a deferral for `reason`; `problem` describes it for hosts without deferred changes.
    pub fn new(reason: Deferred, problem: impl Into<ProviderDiagnostic>) -> Self {
        Self { reason, problem: problem.into() }
    }

    /// Stores the deferral in `place` and returns its problem.
    pub(crate) fn noted(self, place: &mut Option<Self>) -> ProviderDiagnostic {
        place.insert(self).problem.clone()
    }

    /// Returns the reason to a host that can defer changes; otherwise adds the problem to `diagnostics`.
    pub(crate) fn report(self, host: ClientCapabilities, diagnostics: &mut ProviderDiagnostics) -> Option<Deferred> {
        if host.deferral_allowed {
            return Some(self.reason);
        }
        diagnostics.push(self.problem);
        None
    }
}
