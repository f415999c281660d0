//! What else is wrong with a configuration in which names are wrong: whoever mends one mistake wants to know of all.

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

/// `told`, and whatever `validate` finds. Where that cannot be looked for (a provider is not installed, say), what is told will do:
/// it has to be mended in any case.
pub(super) fn all(context: &Context, configuration: Configuration, told: Diagnostics) -> Diagnostics {
    let watch = Watch { hooks: Arc::new(Silent), cancellation: Cancellation::new(), parallelism: DEFAULT_PARALLELISM };
    let packages = Packages::of(context, &configuration).ok().filter(|packages| packages.missing().is_none());
    let session = packages.map(|packages| session(context, configuration, Included::unless(packages), watch));
    match session {
        Some(Ok(session)) => with_further(&mut Run::new(session), &context.sources, told),
        _ => told,
    }
}

/// `told`, and what validation finds but for what is in a line that an error is told of already: it would mostly follow from that.
/// Nor is there anything else that follows from another of them.
pub(super) fn with_further(run: &mut Run, sources: &Sources, told: Diagnostics) -> Diagnostics {
    let found = run.validate();
    let cascades: CascadeFilter = told.iter().chain(&found).collect();
    let mut all: Diagnostics = told.into_iter().filter(|problem| !cascades.is_cascading(problem)).collect();
    let line = |problem: &Diagnostic| {
        let place = sources.locate(problem.subject?)?;
        Some((place.file.base(), place.start.line))
    };
    let wrong: HashSet<_> = all.iter().filter(|problem| problem.is_error()).filter_map(line).collect();
    let is_told = |problem: &Diagnostic| line(problem).is_some_and(|line| wrong.contains(&line));
    // A module is looked at by what calls it, and again by the tests that run it.
    let text = |problem: &Diagnostic| (problem.subject, problem.summary.clone(), problem.detail.clone());
    let known: HashSet<_> = all.iter().map(text).collect();
    let is_told = |problem: &Diagnostic| is_told(problem) || known.contains(&text(problem));
    all.append(found.into_iter().filter(|problem| !cascades.is_cascading(problem) && !is_told(problem)));
    all
}
