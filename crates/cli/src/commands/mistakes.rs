//! Further errors in a configuration with unknown names, so that the user sees all of them at once.

use std::collections::HashSet;
use std::sync::Arc;

use groma_config::Configuration;
use groma_diagnostics::{Consequences, Diagnostic, Diagnostics, Sources};
use groma_engine::hooks::Silent;
use groma_engine::{Cancellation, Run};

use super::context::Context;
use super::packages::Packages;
use super::provider_source::Included;
use super::session::{DEFAULT_PARALLELISM, Watch, session};

/// Returns `told` and the errors of validation. If validation is impossible (a provider is missing, for example), `told` alone has to do.
pub(super) fn all(context: &Context, configuration: Configuration, told: Diagnostics) -> Diagnostics {
    let watch = Watch { hooks: Arc::new(Silent), cancellation: Cancellation::new(), parallelism: DEFAULT_PARALLELISM };
    let packages = Packages::of(context, &configuration).ok().filter(|packages| packages.missing().is_none());
    let session = packages.map(|packages| session(context, configuration, Included::unless(packages), watch));
    match session {
        Some(Ok(session)) => with_further(&mut Run::new(session), &context.sources, told),
        _ => told,
    }
}

/// Returns `told` and the errors of validation on other lines: further errors on the same line mostly follow from the first one.
pub(super) fn with_further(run: &mut Run, sources: &Sources, told: Diagnostics) -> Diagnostics {
    let found = run.validate();
    let consequences: Consequences = told.iter().chain(&found).collect();
    let mut all: Diagnostics = told.into_iter().filter(|problem| !consequences.has(problem)).collect();
    let line = |problem: &Diagnostic| {
        let place = sources.locate(problem.subject?)?;
        Some((place.file.base(), place.start.line))
    };
    let wrong: HashSet<_> = all.iter().filter(|problem| problem.is_error()).filter_map(line).collect();
    let is_told = |problem: &Diagnostic| line(problem).is_some_and(|line| wrong.contains(&line));
    // A module is validated by its callers, and again by the tests that run it.
    let text = |problem: &Diagnostic| (problem.subject, problem.summary.clone(), problem.detail.clone());
    let known: HashSet<_> = all.iter().map(text).collect();
    let is_told = |problem: &Diagnostic| is_told(problem) || known.contains(&text(problem));
    all.append(found.into_iter().filter(|problem| !consequences.has(problem) && !is_told(problem)));
    all
}
