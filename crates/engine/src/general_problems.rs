//! Problems of a run as a whole.

use std::collections::HashSet;

use groma_diagnostics::{Diagnostic, Diagnostics};

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
