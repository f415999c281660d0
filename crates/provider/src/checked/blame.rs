//! Messages about broken rules: always the provider's bug, never the author's mistake (LC-28).

use groma_diagnostics::{Diagnostic, Diagnostics};

use super::{Checked, Subject};
use crate::contract::{Secrets, Violation};
use crate::protocol::{ClientCapabilities, Deferred};
use crate::{ProviderDiagnostics, Schema};

/// The summaries that users search for (plugin-protocol 4).
pub(super) mod summary {
    pub(in crate::checked) const INVALID_PLAN: &str = "Provider produced invalid plan";
    pub(in crate::checked) const INVALID_OBJECT: &str = "Provider produced invalid object";
    pub(in crate::checked) const NULL_OBJECT: &str = "Provider produced null object";
    pub(in crate::checked) const INVALID_IDENTITY: &str = "Provider produced invalid identity";
    pub(in crate::checked) const IDENTITY_MISMATCH: &str =
        "Provider produced an identity that doesn't match the schema";
    pub(in crate::checked) const INCONSISTENT_PLAN: &str = "Provider produced inconsistent final plan";
    pub(in crate::checked) const INCONSISTENT_RESULT: &str = "Provider produced inconsistent result after apply";
    pub(in crate::checked) const INVALID_RESULT: &str = "Provider returned invalid result object after apply";
    pub(in crate::checked) const UNALLOWED_DEFERRAL: &str =
        "Provider deferred changes when Terraform did not allow deferrals";
    pub(in crate::checked) const INVALID_EPHEMERAL: &str = "Provider produced invalid ephemeral resource instance";
    pub(in crate::checked) const INVALID_UPGRADE: &str = "Invalid resource state upgrade";
    pub(in crate::checked) const INVALID_IDENTITY_UPGRADE: &str = "Invalid resource identity upgrade";
    pub(in crate::checked) const NEWER_PROVIDER: &str = "Resource instance managed by newer provider version";
    pub(in crate::checked) const INVALID_VALUE: &str = "Provider returned invalid value";
}

impl Checked {
    /// One error for each violation: which provider, what it did, where, and what is wrong there.
    pub(super) fn violations(
        &self,
        subject: &Subject<'_>,
        summary: &str,
        did: &str,
        violations: &[Violation],
        secrets: Secrets<'_>,
    ) -> Diagnostics {
        let blame = |violation: &Violation| {
            let detail = format!(
                "Provider {} {did} {}{}: {}.\n\n{}",
                self.address,
                subject.address,
                violation.place(),
                violation.message(secrets),
                BUG
            );
            let span = match subject.body {
                Some(body) if !violation.path.is_empty() => body.span_of(&violation.path),
                _ => subject.span,
            };
            Diagnostic::error(summary, detail).at(span).about(subject.address.to_string())
        };
        violations.iter().map(blame).collect()
    }

    /// One error about the whole object.
    pub(super) fn blame(&self, subject: &Subject<'_>, summary: &str, what: &str) -> Diagnostic {
        let detail = format!("Provider {} {what} {}.\n\n{BUG}", self.address, subject.address);
        Diagnostic::error(summary, detail).at(subject.span).about(subject.address.to_string())
    }

    /// P8: no provider puts something off that it is not allowed to; `what` it does, before the address.
    pub(super) fn check_deferral(
        &self,
        subject: &Subject<'_>,
        deferred: Option<Deferred>,
        capabilities: ClientCapabilities,
        what: &str,
    ) -> Result<(), Diagnostics> {
        if deferred.is_none() || capabilities.deferral_allowed {
            return Ok(());
        }
        let what = format!("answered that it cannot {what} yet, which it was not allowed to, for");
        Err(self.blame(subject, summary::UNALLOWED_DEFERRAL, &what).into())
    }

    /// Checks a schema when it is loaded (plugin-protocol 4.3).
    pub(super) fn sound(&self, schema: &Schema, of: &str) -> Result<(), Diagnostics> {
        let problems = schema.problems();
        if problems.is_empty() {
            return Ok(());
        }
        let list: Vec<String> = problems.iter().map(|problem| format!("  - {problem}")).collect();
        let detail = format!("Provider {} has an unsound schema for {of}:\n{}\n\n{BUG}", self.address, list.join("\n"));
        Err(Diagnostic::error("Failed to load plugin schemas", detail).into())
    }

    /// Diagnostics that no configuration belongs to.
    pub(super) fn plain(&self, problems: ProviderDiagnostics) -> Diagnostics {
        super::placed(problems, None, groma_diagnostics::Span::NONE, None)
    }
}

/// The end of every message about a broken rule.
pub(super) const BUG: &str = "This is a bug in the provider; please report it to those who develop the provider.";
