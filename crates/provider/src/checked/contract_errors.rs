//! Diagnostics for violated contract rules. Violations are always the provider's bug, never the author's mistake
//! (LC-28).

use groma_diagnostics::{Diagnostic, DiagnosticKind, Diagnostics};

use super::{Checked, Subject};
use crate::contract::{Secrets, Violation};
use crate::protocol::{ClientCapabilities, Deferred};
use crate::{ProviderDiagnostics, Schema};

/// Terraform's summaries of contract violations, which users search for (plugin-protocol 4).
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
    /// Creates one error per violation: the provider, its action `did`, the attribute, and the problem with the value.
    pub(super) fn contract_errors(
        &self,
        subject: &Subject<'_>,
        summary: &str,
        did: &str,
        violations: &[Violation],
        secrets: Secrets<'_>,
    ) -> Diagnostics {
        let to_error = |violation: &Violation| {
            let detail = format!(
                "Provider {} {did} {}{}: {}.\n\n{}",
                self.address,
                subject.address,
                violation.location(),
                violation.message(secrets),
                BUG
            );
            let span = match subject.body {
                // The argument that set the value is the most useful location, even though the provider is at fault.
                Some(body) if !violation.path.is_empty() => body.span_of(&violation.path),
                _ => subject.span,
            };
            fault(summary, detail).at(span).about(subject.address)
        };
        violations.iter().map(to_error).collect()
    }

    /// Creates an error for a violation that concerns the whole object; `what` precedes the address in the detail.
    pub(super) fn contract_error(&self, subject: &Subject<'_>, summary: &str, what: &str) -> Diagnostic {
        let detail = format!("Provider {} {what} {}.\n\n{BUG}", self.address, subject.address);
        fault(summary, detail).at(subject.span).about(subject.address)
    }

    /// Reports a deferral that the engine did not allow (P8); `what` is the operation, for example "plan".
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
        let what = format!("deferred the request to {what}, although this run does not allow deferrals, for");
        Err(self.contract_error(subject, summary::UNALLOWED_DEFERRAL, &what).into())
    }

    /// Validates a schema when it is loaded (plugin-protocol 4.3); `of` names its owner in the error.
    pub(super) fn check_schema(&self, schema: &Schema, of: &str) -> Result<(), Diagnostics> {
        let problems = schema.problems();
        if problems.is_empty() {
            return Ok(());
        }
        let list: Vec<String> = problems.iter().map(|problem| format!("  - {problem}")).collect();
        let detail = format!("Provider {} has an invalid schema for {of}:\n{}\n\n{BUG}", self.address, list.join("\n"));
        Err(Diagnostic::error("Failed to load plugin schemas", detail).into())
    }

    /// Converts diagnostics of calls that have no configuration block to point to.
    pub(super) fn without_location(&self, problems: ProviderDiagnostics) -> Diagnostics {
        super::located(problems, None, groma_diagnostics::Span::NONE, None)
    }
}

fn fault(summary: &str, detail: String) -> Diagnostic {
    Diagnostic::error(summary, detail).of_kind(DiagnosticKind::ProviderFault)
}

/// The last sentence of every message about a contract violation.
pub(super) const BUG: &str = "This is a bug in the provider. Please report it in the provider's issue tracker.";
