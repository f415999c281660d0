//! Diagnostics that are combined: problems of a run as a whole, and those of one invocation.

use std::collections::HashSet;

use groma_diagnostics::{Diagnostic, Diagnostics};

/// The summaries of what is gathered.
pub(crate) struct Summaries {
    /// The summary if one of the diagnostics is an error.
    pub(crate) error: &'static str,
    /// The summary if all of them are warnings.
    pub(crate) warning: &'static str,
}

/// Combines `problems` into one diagnostic without a location; `None` without problems.
pub(crate) fn gathered(problems: Diagnostics, summaries: &Summaries) -> Option<Diagnostic> {
    let failed = problems.has_errors();
    let said: Vec<String> = problems.into_iter().map(said).collect();
    let detail = match &said[..] {
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

fn said(problem: Diagnostic) -> String {
    match problem.detail.is_empty() {
        true => problem.summary,
        false => format!("{}: {}", problem.summary, problem.detail),
    }
}

/// Removes repetitions of problems of the run as a whole. A full disk or a provider that has ended meets every step that is still open, and
/// is reported once.
pub(crate) fn reported_once(problems: Diagnostics) -> Diagnostics {
    let mut seen = HashSet::new();
    let is_news = |one: &Diagnostic| {
        let is_general = one.address.is_none() && one.subject.is_none();
        !is_general || seen.insert((one.summary.clone(), one.detail.clone()))
    };
    problems.into_iter().filter(is_news).collect()
}
