//! What else is wrong with a configuration in which names are wrong: whoever mends one mistake wants to know of all.

use std::collections::HashSet;
use std::sync::Arc;

use groma_config::Configuration;
use groma_diagnostics::{Diagnostic, Diagnostics, Sources};
use groma_engine::hooks::Silent;
use groma_engine::{Cancellation, Run};

use super::context::Context;
use super::packages::Packages;
use super::provider_source::Included;
use super::session::{DEFAULT_PARALLELISM, Watch, session};

/// `told`, and whatever `validate` finds. Where that cannot be looked for (a provider is not installed, say), what is told will do:
/// it has to be mended in any case.
pub(super) fn all(context: &Context, configuration: Configuration, mut told: Diagnostics) -> Diagnostics {
    let watch = Watch { hooks: Arc::new(Silent), cancellation: Cancellation::new(), parallelism: DEFAULT_PARALLELISM };
    let packages = Packages::of(context, &configuration).ok().filter(|packages| packages.missing().is_none());
    let session = packages.map(|packages| session(context, configuration, Included::unless(packages), watch));
    if let Some(Ok(session)) = session {
        let found = further(&mut Run::new(session), &context.sources, &told);
        told.append(found);
    }
    told
}

/// What validation finds but for what is in a line that an error is told of already: it would mostly follow from that.
pub(super) fn further(run: &mut Run, sources: &Sources, told: &Diagnostics) -> Vec<Diagnostic> {
    let line = |problem: &Diagnostic| {
        let place = sources.locate(problem.subject?)?;
        Some((place.file.base(), place.start.line))
    };
    let wrong: HashSet<_> = told.iter().filter(|problem| problem.is_error()).filter_map(line).collect();
    run.validate().into_iter().filter(|problem| !line(problem).is_some_and(|line| wrong.contains(&line))).collect()
}
