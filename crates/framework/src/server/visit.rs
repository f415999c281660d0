//! Visiting the schemas of a provider with thousands of types.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use groma_provider::{Name, Provider, ProviderDiagnostics, Schema, TypeCategory};

use super::Server;
use crate::Definition;

/// The fewest types for which threads are worth their start.
const MANY: usize = 64;

/// The most threads that build schemas.
const MOST_THREADS: usize = 4;

/// A type name with its categories.
type Named = (Name, Vec<TypeCategory>);

/// The schemas of one type name.
type Built = Result<Vec<(TypeCategory, Arc<Schema>)>, ProviderDiagnostics>;

impl Server {
    /// Passes all schemas to `visit`. Each thread builds, visits and frees one type after the other, so that only few exist at a time.
    pub(super) fn visit_all(
        &self,
        names: &[Named],
        visit: &(dyn Fn(TypeCategory, &Name, &Arc<Schema>) + Sync),
    ) -> Result<(), ProviderDiagnostics> {
        let visit_one = |named: &Named| {
            let schemas = build(&self.definition, named)?;
            schemas.iter().for_each(|(category, schema)| visit(*category, &named.0, schema));
            Ok(())
        };
        if names.len() < MANY {
            return names.iter().try_for_each(visit_one);
        }
        let next = AtomicUsize::new(0);
        let first_problem: Mutex<Option<(usize, ProviderDiagnostics)>> = Mutex::default();
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(named) = names.get(at) else { return };
                let Err(problem) = visit_one(named) else { continue };
                // No thread begins another type.
                next.store(names.len(), Ordering::Relaxed);
                let mut first = first_problem.lock().unwrap_or_else(PoisonError::into_inner);
                // Whatever the threads do, the error is that of the first type that has one.
                if first.as_ref().is_none_or(|(first, _)| at < *first) {
                    *first = Some((at, problem));
                }
            }
        };
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
        thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        let first = first_problem.into_inner().unwrap_or_else(PoisonError::into_inner);
        first.map_or(Ok(()), |(_, problem)| Err(problem))
    }
}

/// Builds the schemas of one type name. A server of its own holds its types until all of them are built, and then frees them.
fn build(definition: &Arc<dyn Definition>, (name, categories): &Named) -> Built {
    let server = Server::new(Arc::clone(definition));
    let mut schemas = Vec::new();
    for category in categories {
        schemas.extend(server.category_schema(*category, name)?.map(|schema| (*category, schema)));
    }
    Ok(schemas)
}
