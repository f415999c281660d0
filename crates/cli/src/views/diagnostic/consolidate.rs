//! The order of diagnostics, and consolidation of those with the same text.

use std::collections::HashMap;

use groma_diagnostics::{Diagnostic, Diagnostics, Severity, Sources};

/// A diagnostic with the number of similar ones.
pub struct Consolidated<'d> {
    /// First diagnostic of the group.
    pub diagnostic: &'d Diagnostic,
    /// Number of further diagnostics with the same text.
    pub others: usize,
}

/// Treatment of diagnostics with the same text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alike {
    /// Only the first one is shown, with the number of others.
    Together,
    /// All of them are shown.
    Apart,
}

/// Consolidation by severity, as the flags `-consolidate-warnings` and `-consolidate-errors` set it.
#[derive(Clone, Copy, Debug)]
pub struct Consolidation {
    /// Treatment of similar warnings.
    pub warnings: Alike,
    /// Treatment of similar errors.
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

/// Consolidates diagnostics that have a source location and the same summary and detail. A different detail is a different
/// problem: the failed assertions of a check, for example, share only their summary.
pub fn consolidated<'d>(ordered: &[&'d Diagnostic], consolidation: Consolidation) -> Vec<Consolidated<'d>> {
    let mut first: HashMap<(Severity, &str, &str), usize> = HashMap::new();
    let mut shown: Vec<Consolidated<'d>> = Vec::new();
    for diagnostic in ordered.iter().copied() {
        let severity = diagnostic.severity;
        if consolidation.of(severity) == Alike::Together && diagnostic.subject.is_some() {
            let text = (severity, diagnostic.summary.as_str(), diagnostic.detail.as_str());
            let same = first.get(&text);
            if let Some(same) = same.and_then(|at| shown.get_mut(*at)) {
                same.others += 1;
                // The first one stays where it is, so that the order is kept.
                continue;
            }
            first.insert(text, shown.len());
        }
        shown.push(Consolidated { diagnostic, others: 0 });
    }
    shown
}

impl Consolidated<'_> {
    /// Returns the diagnostic, with the number of similar ones added to its detail.
    pub fn whole(&self) -> Diagnostic {
        let what = if self.diagnostic.is_error() { "error" } else { "warning" };
        let more = match self.others {
            0 => String::new(),
            1 => format!("\n\n(and one more similar {what} elsewhere)"),
            others => format!("\n\n(and {others} more similar {what}s elsewhere)"),
        };
        // The number of others belongs to this output, so the diagnostic itself is not changed.
        Diagnostic { detail: format!("{}{more}", self.diagnostic.detail), ..self.diagnostic.clone() }
    }
}

/// Sorts diagnostics: warnings before errors, then those without a source location, then by location, with files of parent
/// directories first. The sort is stable. It makes the order independent of the order in which providers respond.
pub fn in_order<'d>(diagnostics: &'d Diagnostics, sources: &Sources) -> Vec<&'d Diagnostic> {
    let mut ordered: Vec<&Diagnostic> = diagnostics.iter().collect();
    if ordered.len() > 1 {
        ordered.sort_by_cached_key(|diagnostic| {
            let span = diagnostic.subject.filter(|span| !span.is_none());
            let location = span.and_then(|span| {
                let located = sources.locate(span)?;
                let name = located.file.name().to_owned();
                // The depth of a file is the number of separators in its name.
                Some((name.matches(std::path::MAIN_SEPARATOR).count(), name, span.start(), span.end()))
            });
            (diagnostic.severity == Severity::Error, location)
        });
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use groma_diagnostics::Span;

    #[test]
    fn consolidates_only_warnings_with_same_text() {
        let at = |one: Diagnostic, from: u32| one.at(Span::new(from, from + 1));
        let all = [
            at(Diagnostic::warning("Old", "Use new."), 1),
            // Diagnostics without a location are not consolidated.
            Diagnostic::warning("Old", "nowhere"),
            at(Diagnostic::warning("Other", "x"), 2),
            at(Diagnostic::warning("Old", "Use newer."), 3),
            // Errors are shown separately by default.
            at(Diagnostic::error("Old", "an error"), 4),
            at(Diagnostic::error("Old", "an error"), 5),
            at(Diagnostic::warning("Old", "Use new."), 6),
            at(Diagnostic::warning("Other", "x"), 7),
        ];
        let ordered: Vec<&Diagnostic> = all.iter().collect();
        let shown: Vec<String> =
            consolidated(&ordered, Consolidation::default()).iter().map(|one| one.whole().detail).collect();
        let wanted = [
            "Use new.\n\n(and one more similar warning elsewhere)",
            "nowhere",
            "x\n\n(and one more similar warning elsewhere)",
            "Use newer.",
            "an error",
            "an error",
        ];
        assert_eq!(shown, wanted);
    }

    #[test]
    fn sorts_warnings_first_then_by_location() {
        let sources = Sources::new();
        let inner = sources.add("m/main.tf", "abcdef").unwrap();
        let outer = sources.add("main.tf", "abcdef").unwrap();
        let at = |summary: &str, file: &groma_diagnostics::SourceFile, from: u32, to: u32| {
            Diagnostic::error(summary, "").at(file.span(from as usize, to as usize))
        };
        let mut all = Diagnostics::new();
        all.push(at("inner", &inner, 0, 1));
        all.push(at("second", &outer, 2, 3));
        all.push(at("first", &outer, 1, 5));
        all.push(Diagnostic::error("nowhere", ""));
        all.push(Diagnostic::warning("warning", "").at(inner.span(3, 4)));
        let ordered: Vec<&str> = in_order(&all, &sources).iter().map(|one| one.summary.as_str()).collect();
        assert_eq!(ordered, ["warning", "nowhere", "first", "second", "inner"]);
    }
}
