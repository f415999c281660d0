//! Merging of diagnostics: repetitions of problems of a run as a whole, and all problems of one action invocation.

use std::collections::HashSet;

use groma_diagnostics::{Diagnostic, Diagnostics};

/// The summaries of merged diagnostics.
pub(crate) struct Summaries {
    /// The summary if one of the diagnostics is an error.
    pub(crate) error: &'static str,
    /// The summary if all of them are warnings.
    pub(crate) warning: &'static str,
}

/// Merges `problems` into one diagnostic without a location; `None` without problems.
pub(crate) fn merged(problems: Diagnostics, summaries: &Summaries) -> Option<Diagnostic> {
    let failed = problems.has_errors();
    let texts: Vec<String> = problems.into_iter().map(text).collect();
    let detail = match &texts[..] {
        [] => return None,
        [only] => only.clone(),
        all => {
            let what = if failed { "problems" } else { "warnings" };
            format!("{} {what}:\n\n- {}", all.len(), all.join("\n- "))
        }
    };
    Some(match failed {
        true => Diagnostic::error(summaries.error, detail),
        false => Diagnostic::warning(summaries.warning, detail),
    })
}

fn text(problem: Diagnostic) -> String {
    match problem.detail.is_empty() {
        true => problem.summary,
        false => format!("{}: {}", problem.summary, problem.detail),
    }
}

/// Removes repetitions of problems of the run as a whole. A full disk or an ended provider fails every
/// remaining step, but is reported once.
pub(crate) fn reported_once(problems: Diagnostics) -> Diagnostics {
    let mut seen = HashSet::new();
    let is_news = |one: &Diagnostic| {
        let is_general = one.address.is_none() && one.subject.is_none();
        !is_general || seen.insert((one.summary.clone(), one.detail.clone()))
    };
    problems.into_iter().filter(is_news).collect()
}
