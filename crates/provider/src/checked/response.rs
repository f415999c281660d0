//! Conversion of a provider's response into the result of a checked call.

use groma_diagnostics::Diagnostics;

use super::Subject;
use crate::ProviderDiagnostics;

impl Subject<'_> {
    /// Returns the result of `check` along with the provider's diagnostics. A response with errors is not checked.
    pub(super) fn checked<T>(
        &self,
        problems: ProviderDiagnostics,
        check: impl FnOnce() -> Result<T, Diagnostics>,
    ) -> (Option<T>, Diagnostics) {
        let failed = problems.has_errors();
        let mut diagnostics = self.locate(problems);
        if failed {
            return (None, diagnostics);
        }
        match check() {
            Ok(value) => (Some(value), diagnostics),
            Err(broken) => {
                diagnostics.append(broken);
                (None, diagnostics)
            }
        }
    }
}

/// Returns an error if `broken` contains any diagnostic.
pub(super) fn no_violations(broken: Diagnostics) -> Result<(), Diagnostics> {
    if broken.is_empty() { Ok(()) } else { Err(broken) }
}
