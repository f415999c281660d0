//! Suppression of follow-up errors, by the text that errors refer to.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::span::Span;

/// Filter for diagnostics that follow from an error, by [`Diagnostic::covering`] and [`Diagnostic::provided`].
#[derive(Debug)]
pub struct Consequences {
    /// The texts in which nothing matters but one mistake each, by their starts; the end is the last one of all texts up to there.
    covered: Vec<(u32, u32)>,
    /// The starts of the spans of errors.
    wrong: Vec<u32>,
}

impl Consequences {
    /// Whether `problem` follows from another one.
    pub fn has(&self, problem: &Diagnostic) -> bool {
        let is_covered = problem.covers.is_none() && problem.subject.is_some_and(|subject| self.covers(subject));
        is_covered || problem.premise.is_some_and(|premise| self.is_wrong(premise))
    }

    fn covers(&self, place: Span) -> bool {
        let before = self.covered.partition_point(|(start, _)| *start <= place.start());
        self.covered[..before].last().is_some_and(|(_, end)| place.end() <= *end)
    }

    fn is_wrong(&self, text: Span) -> bool {
        let before = self.wrong.partition_point(|start| *start < text.start());
        self.wrong.get(before).is_some_and(|start| *start < text.end())
    }
}

impl<'a> FromIterator<&'a Diagnostic> for Consequences {
    fn from_iter<I: IntoIterator<Item = &'a Diagnostic>>(problems: I) -> Self {
        let (mut covered, mut wrong) = (Vec::new(), Vec::new());
        for problem in problems {
            covered.extend(problem.covers.map(|text| (text.start(), text.end())));
            wrong.extend(problem.subject.filter(|_| problem.is_error()).map(Span::start));
        }
        covered.sort_unstable();
        wrong.sort_unstable();
        let mut last = 0;
        for (_, end) in &mut covered {
            last = last.max(*end);
            *end = last;
        }
        Self { covered, wrong }
    }
}

impl Diagnostics {
    /// Removes diagnostics that follow from others.
    #[must_use]
    pub fn without_consequences(self) -> Self {
        let consequences: Consequences = self.iter().collect();
        self.into_iter().filter(|problem| !consequences.has(problem)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: u32, end: u32) -> Diagnostic {
        Diagnostic::error("Something", "").at(Span::new(start, end))
    }

    #[test]
    fn what_is_said_of_a_covered_text_follows() {
        let problems = [
            at(10, 12).covering(Span::new(10, 40)),
            at(15, 16).covering(Span::new(15, 20)),
            at(50, 52).covering(Span::new(50, 60)),
        ];
        let consequences: Consequences = problems.iter().collect();
        for (problem, follows) in
            [(at(10, 11), true), (at(30, 40), true), (at(30, 41), false), (at(45, 46), false), (at(50, 60), true)]
        {
            assert_eq!(consequences.has(&problem), follows, "{problem:?}");
        }
        assert!(!problems.iter().any(|problem| consequences.has(problem)));
        assert!(!consequences.has(&Diagnostic::error("Of no text", "")));
    }

    #[test]
    fn what_rests_on_a_wrong_text_follows() {
        let problems = [at(10, 12), at(30, 32), Diagnostic::warning("Odd", "").at(Span::new(50, 52))];
        let consequences: Consequences = problems.iter().collect();
        for (premise, follows) in [((8, 14), true), ((12, 30), false), ((30, 31), true), ((49, 53), false)] {
            let problem = at(90, 95).provided(Span::new(premise.0, premise.1));
            assert_eq!(consequences.has(&problem), follows, "{premise:?}");
        }
    }
}
