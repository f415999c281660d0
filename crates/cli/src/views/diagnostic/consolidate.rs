//! Problems that say the same of many places, as one.

use std::collections::HashMap;

use groma_diagnostics::{Diagnostic, Severity};

/// A diagnostic, and how many more there are like it.
pub struct Consolidated<'d> {
    /// The first of them.
    pub diagnostic: &'d Diagnostic,
    /// Number of further diagnostics with the same text.
    pub others: usize,
}

/// The treatment of diagnostics with the same text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alike {
    /// They are combined into one.
    Together,
    /// Each of them is shown.
    Apart,
}

/// The severities whose diagnostics are combined.
#[derive(Clone, Copy, Debug)]
pub struct Consolidation {
    /// The treatment of warnings.
    pub warnings: Alike,
    /// The treatment of errors.
    pub errors: Alike,
}

impl Default for Consolidation {
    fn default() -> Self {
        Self { warnings: Alike::Together, errors: Alike::Apart }
    }
}

impl Consolidation {
    fn of(self, severity: Severity) -> Alike {
        match severity {
            Severity::Warning => self.warnings,
            Severity::Error => self.errors,
        }
    }
}

/// The problems to report. Of those with the same text (summary and detail) that point at some place, only the first is reported
/// where `consolidation` asks for it. A different detail is different information: failed assertions of a check share only their summary.
pub fn consolidated<'d>(ordered: &[&'d Diagnostic], consolidation: Consolidation) -> Vec<Consolidated<'d>> {
    let mut first: HashMap<(Severity, &str, &str), usize> = HashMap::new();
    let mut told: Vec<Consolidated<'d>> = Vec::new();
    for diagnostic in ordered.iter().copied() {
        let severity = diagnostic.severity;
        if consolidation.of(severity) == Alike::Together && diagnostic.subject.is_some() {
            let text = (severity, diagnostic.summary.as_str(), diagnostic.detail.as_str());
            let same = first.get(&text);
            if let Some(same) = same.and_then(|at| told.get_mut(*at)) {
                same.others += 1;
                continue;
            }
            first.insert(text, told.len());
        }
        told.push(Consolidated { diagnostic, others: 0 });
    }
    told
}

impl Consolidated<'_> {
    /// Returns the diagnostic with the number of others that it represents.
    pub fn whole(&self) -> Diagnostic {
        let what = if self.diagnostic.is_error() { "error" } else { "warning" };
        let more = match self.others {
            0 => String::new(),
            1 => format!("\n\n(and one more similar {what} elsewhere)"),
            others => format!("\n\n(and {others} more similar {what}s elsewhere)"),
        };
        Diagnostic { detail: format!("{}{more}", self.diagnostic.detail), ..self.diagnostic.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use groma_diagnostics::Span;

    #[test]
    fn only_warnings_with_the_same_text_are_folded() {
        let at = |one: Diagnostic, from: u32| one.at(Span::new(from, from + 1));
        let all = [
            at(Diagnostic::warning("Old", "Use new."), 1),
            Diagnostic::warning("Old", "nowhere"),
            at(Diagnostic::warning("Other", "x"), 2),
            at(Diagnostic::warning("Old", "Use newer."), 3),
            at(Diagnostic::error("Old", "an error"), 4),
            at(Diagnostic::error("Old", "an error"), 5),
            at(Diagnostic::warning("Old", "Use new."), 6),
            at(Diagnostic::warning("Other", "x"), 7),
        ];
        let ordered: Vec<&Diagnostic> = all.iter().collect();
        let told: Vec<String> =
            consolidated(&ordered, Consolidation::default()).iter().map(|one| one.whole().detail).collect();
        let wanted = [
            "Use new.\n\n(and one more similar warning elsewhere)",
            "nowhere",
            "x\n\n(and one more similar warning elsewhere)",
            "Use newer.",
            "an error",
            "an error",
        ];
        assert_eq!(told, wanted);
    }
}
