//! Answers that are left to a later run.

use groma_provider::{ClientCapabilities, Deferred, ProviderDiagnostic, ProviderDiagnostics};

/// That a call cannot be answered yet: a cluster that the object is to live in does not exist, or an argument that decides everything is
/// not known. A host that leaves things to a later run is told the reason, and comes back; any other is told the problem, as an error.
/// Which of them it is need not be asked.
///
/// Reads, plans, imports, data sources and ephemeral resources can say so; what is applied must be done or fail.
#[derive(Clone, Debug)]
pub struct NotYet {
    reason: Deferred,
    problem: ProviderDiagnostic,
}

impl NotYet {
    /// Because of `reason`; `problem` says in words what is missing.
    pub fn new(reason: Deferred, problem: impl Into<ProviderDiagnostic>) -> Self {
        Self { reason, problem: problem.into() }
    }

    /// The problem, with this put down in `place`.
    pub(crate) fn noted(self, place: &mut Option<Self>) -> ProviderDiagnostic {
        place.insert(self).problem.clone()
    }

    /// Returns the reason to a host that can defer changes; otherwise adds the problem to `diagnostics`.
    pub(crate) fn tell(self, host: ClientCapabilities, diagnostics: &mut ProviderDiagnostics) -> Option<Deferred> {
        if host.deferral_allowed {
            return Some(self.reason);
        }
        diagnostics.push(self.problem);
        None
    }
}
