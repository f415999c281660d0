//! Combines the diagnostics of one invocation into one: it refers to the trigger, which the provider does not know.

use groma_diagnostics::{Diagnostic, Diagnostics};

/// The summaries of what is gathered.
pub(crate) struct Summaries {
    /// The summary if one of the diagnostics is an error.
    pub(crate) error: &'static str,
    /// The summary if all of them are warnings.
    pub(crate) warning: &'static str,
}

/// Combines `problems` into one diagnostic without a location; `None` if there are none.
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
