//! What an answer comes to: what it tells, unless the provider reports errors or breaks the contract.

use groma_diagnostics::Diagnostics;

use super::Subject;
use crate::ProviderDiagnostics;

impl Subject<'_> {
    /// What `check` makes of an answer, and the provider's own problems before those that it finds. An answer with errors is not looked at.
    pub(super) fn settled<T>(
        &self,
        problems: ProviderDiagnostics,
        check: impl FnOnce() -> Result<T, Diagnostics>,
    ) -> (Option<T>, Diagnostics) {
        let failed = problems.has_errors();
        let mut diagnostics = self.place(problems);
        if failed {
            return (None, diagnostics);
        }
        match check() {
            Ok(told) => (Some(told), diagnostics),
            Err(broken) => {
                diagnostics.append(broken);
                (None, diagnostics)
            }
        }
    }
}

/// That no rule is broken, or else which.
pub(super) fn unbroken(broken: Diagnostics) -> Result<(), Diagnostics> {
    if broken.is_empty() { Ok(()) } else { Err(broken) }
}
