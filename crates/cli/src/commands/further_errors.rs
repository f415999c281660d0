//! Completes the errors about invalid references with all other errors that `validate` finds, so that they can be fixed at once.

use std::collections::HashSet;
use std::sync::Arc;

use groma_config::Configuration;
use groma_diagnostics::{CascadeFilter, Diagnostic, Diagnostics, Sources};
use groma_engine::hooks::Silent;
use groma_engine::{Cancellation, Run};

use super::context::Context;
use super::packages::Packages;
use super::provider_source::Included;
use super::session::{DEFAULT_PARALLELISM, Watch, session};

/// Returns `known` and the further errors that validation finds. If validation is not possible, for example because a provider is
/// not installed, only `known` is returned.
pub(super) fn collect(context: &Context, configuration: Configuration, known: Diagnostics) -> Diagnostics {
    let watch = Watch { hooks: Arc::new(Silent), cancellation: Cancellation::new(), parallelism: DEFAULT_PARALLELISM };
    let packages = Packages::of(context, &configuration).ok().filter(|packages| packages.missing().is_none());
    let session = packages.map(|packages| session(context, configuration, Included::unless(packages), watch));
    match session {
        Some(Ok(session)) => with_further(&mut Run::new(session), &context.sources, known),
        _ => known,
    }
}

/// Returns `known` and the errors that validation finds, without cascades of other errors. Further errors on the line of a known
/// error are dropped too, because they mostly follow from it.
pub(super) fn with_further(run: &mut Run, sources: &Sources, known: Diagnostics) -> Diagnostics {
    let found = run.validate();
    let cascades: CascadeFilter = known.iter().chain(&found).collect();
    let mut all: Diagnostics = known.into_iter().filter(|problem| !cascades.is_cascading(problem)).collect();
    let line = |problem: &Diagnostic| {
        let location = sources.locate(problem.subject?)?;
        Some((location.file.base(), location.start.line))
    };
    let wrong: HashSet<_> = all.iter().filter(|problem| problem.is_error()).filter_map(line).collect();
    // A module is validated through its calls, and again through the test runs that use it.
    let text = |problem: &Diagnostic| (problem.subject, problem.summary.clone(), problem.detail.clone());
    let reported: HashSet<_> = all.iter().map(text).collect();
    let is_reported = |problem: &Diagnostic| {
        line(problem).is_some_and(|line| wrong.contains(&line)) || reported.contains(&text(problem))
    };
    all.append(found.into_iter().filter(|problem| !cascades.is_cascading(problem) && !is_reported(problem)));
    all
}
