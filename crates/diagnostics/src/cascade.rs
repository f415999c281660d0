//! Suppression of diagnostics that only follow from another mistake in the same source text.

use crate::diagnostic::{Cascade, Diagnostic, Diagnostics};
use crate::span::Span;

/// Decides which diagnostics of a set merely follow from another one.
///
/// A mistake often cascades: a resource block with a misspelled type also makes every reference to it fail.
/// [`Diagnostic::suppressing`] and [`Diagnostic::depending_on`] declare these relations.
#[derive(Debug)]
pub struct CascadeFilter {
    /// Source ranges in which only one mistake counts, sorted by start. Each end is the maximum of all ends so far, so
    /// that one binary search finds an enclosing range.
    suppressed: Vec<(u32, u32)>,
    /// Start addresses of all errors, sorted.
    errors: Vec<u32>,
}

impl CascadeFilter {
    /// Whether `diagnostic` follows from another one of the set.
    pub fn is_cascading(&self, diagnostic: &Diagnostic) -> bool {
        let Cascade { suppresses, depends_on } = relations(diagnostic);
        // A diagnostic that suppresses others is itself a root cause, even within a larger suppressed range.
        let is_suppressed =
            suppresses.is_none() && diagnostic.subject.is_some_and(|subject| self.is_suppressed(subject));
        is_suppressed || depends_on.is_some_and(|span| self.has_error_in(span))
    }

    fn is_suppressed(&self, span: Span) -> bool {
        let before = self.suppressed.partition_point(|(start, _)| *start <= span.start());
        self.suppressed[..before].last().is_some_and(|(_, end)| span.end() <= *end)
    }

    fn has_error_in(&self, span: Span) -> bool {
        // Warnings are no reason to suppress what depends on their text.
        let before = self.errors.partition_point(|start| *start < span.start());
        self.errors.get(before).is_some_and(|start| *start < span.end())
    }
}

fn relations(diagnostic: &Diagnostic) -> Cascade {
    diagnostic.cascade.as_deref().copied().unwrap_or_default()
}

impl<'a> FromIterator<&'a Diagnostic> for CascadeFilter {
    fn from_iter<I: IntoIterator<Item = &'a Diagnostic>>(diagnostics: I) -> Self {
        let (mut suppressed, mut errors) = (Vec::new(), Vec::new());
        // One pass over the set; both lists are sorted afterwards for binary searches.
        for diagnostic in diagnostics {
            suppressed.extend(relations(diagnostic).suppresses.map(|span| (span.start(), span.end())));
            errors.extend(diagnostic.subject.filter(|_| diagnostic.is_error()).map(Span::start));
        }
        suppressed.sort_unstable();
        errors.sort_unstable();
        let mut last = 0;
        for (_, end) in &mut suppressed {
            // A short range inside of a longer one must not hide the longer one from the search.
            last = last.max(*end);
            *end = last;
        }
        Self { suppressed, errors }
    }
}

impl Diagnostics {
    /// Removes the diagnostics that merely follow from another one; see [`CascadeFilter`].
    #[must_use]
    pub fn without_cascades(self) -> Self {
        let filter: CascadeFilter = self.iter().collect();
        self.into_iter().filter(|diagnostic| !filter.is_cascading(diagnostic)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: u32, end: u32) -> Diagnostic {
        Diagnostic::error("Something", "").at(Span::new(start, end))
    }

    #[test]
    fn diagnostics_in_a_suppressed_range_cascade() {
        let problems = [
            at(10, 12).suppressing(Span::new(10, 40)),
            at(15, 16).suppressing(Span::new(15, 20)),
            at(50, 52).suppressing(Span::new(50, 60)),
        ];
        let filter: CascadeFilter = problems.iter().collect();
        for (problem, follows) in
            [(at(10, 11), true), (at(30, 40), true), (at(30, 41), false), (at(45, 46), false), (at(50, 60), true)]
        {
            assert_eq!(filter.is_cascading(&problem), follows, "{problem:?}");
        }
        assert!(!problems.iter().any(|problem| filter.is_cascading(problem)));
        assert!(!filter.is_cascading(&Diagnostic::error("Of no text", "")));
    }

    #[test]
    fn diagnostics_that_depend_on_wrong_text_cascade() {
        let problems = [at(10, 12), at(30, 32), Diagnostic::warning("Odd", "").at(Span::new(50, 52))];
        let filter: CascadeFilter = problems.iter().collect();
        for (premise, follows) in [((8, 14), true), ((12, 30), false), ((30, 31), true), ((49, 53), false)] {
            let problem = at(90, 95).depending_on(Span::new(premise.0, premise.1));
            assert_eq!(filter.is_cascading(&problem), follows, "{premise:?}");
        }
    }
}
