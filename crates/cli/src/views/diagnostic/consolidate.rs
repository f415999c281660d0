//! Problems that say the same of many places, as one.

use std::collections::HashMap;

use groma_diagnostics::{Diagnostic, Severity};

/// A diagnostic, and how many more there are like it.
pub struct Consolidated<'d> {
    /// The first of them.
    pub diagnostic: &'d Diagnostic,
    /// How many others say the same elsewhere.
    pub others: usize,
}

/// What becomes of those that say the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alike {
    /// They are told as one.
    Together,
    /// Each is told.
    Apart,
}

/// Which problems that say the same of many places are told as one.
#[derive(Clone, Copy, Debug)]
pub struct Consolidation {
    /// Warnings.
    pub warnings: Alike,
    /// Errors.
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

/// Of problems with the same summary that are about some text, only the first, where they are told together.
pub fn consolidated<'d>(ordered: &[&'d Diagnostic], consolidation: Consolidation) -> Vec<Consolidated<'d>> {
    let mut first: HashMap<(Severity, &str), usize> = HashMap::new();
    let mut told: Vec<Consolidated<'d>> = Vec::new();
    for diagnostic in ordered.iter().copied() {
        let severity = diagnostic.severity;
        if consolidation.of(severity) == Alike::Together && diagnostic.subject.is_some() {
            let same = first.get(&(severity, diagnostic.summary.as_str()));
            if let Some(same) = same.and_then(|at| told.get_mut(*at)) {
                same.others += 1;
                continue;
            }
            first.insert((severity, &diagnostic.summary), told.len());
        }
        told.push(Consolidated { diagnostic, others: 0 });
    }
    told
}

impl Consolidated<'_> {
    /// What it says, and how many others say it.
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
    fn warnings_that_say_the_same_are_told_once() {
        let at = |one: Diagnostic, from: u32| one.at(Span::new(from, from + 1));
        let all = [
            at(Diagnostic::warning("Old", "Use new."), 1),
            Diagnostic::warning("Old", "nowhere"),
            at(Diagnostic::warning("Other", "x"), 2),
            at(Diagnostic::warning("Old", "Use newer."), 3),
            at(Diagnostic::error("Old", "an error"), 4),
            at(Diagnostic::error("Old", "an error"), 5),
            at(Diagnostic::warning("Old", "Use newest."), 6),
            at(Diagnostic::warning("Other", "x"), 7),
        ];
        let ordered: Vec<&Diagnostic> = all.iter().collect();
        let told: Vec<String> =
            consolidated(&ordered, Consolidation::default()).iter().map(|one| one.whole().detail).collect();
        let wanted = [
            "Use new.\n\n(and 2 more similar warnings elsewhere)",
            "nowhere",
            "x\n\n(and one more similar warning elsewhere)",
            "an error",
            "an error",
        ];
        assert_eq!(told, wanted);
    }
}
