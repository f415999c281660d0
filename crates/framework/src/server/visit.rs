//! Visiting the schemas of a provider with thousands of types.

use std::num::NonZero;
use std::sync::{Arc, mpsc};
use std::thread;

use groma_provider::{Name, Provider, ProviderDiagnostics, Schema, TypeCategory};

use super::Server;
use crate::Definition;

/// The fewest types for which threads are worth their start.
const MANY: usize = 64;

/// The most threads that build schemas.
const MOST_THREADS: usize = 4;

/// The built types that wait for their visit, for each thread. More would only take memory.
const WAITING: usize = 4;

/// A type name with its categories.
type Named = (Name, Vec<TypeCategory>);

/// The schemas of one type name.
type Built = Result<Vec<(TypeCategory, Arc<Schema>)>, ProviderDiagnostics>;

impl Server {
    /// Passes all schemas to `visit`, in the order of `names`. Threads build them ahead.
    pub(super) fn visit_in_order(
        &self,
        names: &[Named],
        visit: &mut dyn FnMut(TypeCategory, &Name, &Arc<Schema>),
    ) -> Result<(), ProviderDiagnostics> {
        let mut visit_built = |name: &Name, built: Built| {
            built.map(|schemas| schemas.iter().for_each(|(category, schema)| visit(*category, name, schema)))
        };
        if names.len() < MANY {
            return names.iter().try_for_each(|named| visit_built(&named.0, build(&self.definition, named)));
        }
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
        thread::scope(|scope| {
            // Each thread builds every so-many-th type, so that the order of their results is known.
            let start = |first: usize| {
                let (sender, receiver) = mpsc::sync_channel(WAITING);
                scope.spawn(move || {
                    // After an error nobody receives the rest.
                    let mut own = names.iter().skip(first).step_by(threads);
                    own.all(|named| sender.send(build(&self.definition, named)).is_ok());
                });
                receiver
            };
            let receivers: Vec<mpsc::Receiver<Built>> = (0..threads).map(start).collect();
            names.iter().zip(receivers.iter().cycle()).try_for_each(|((name, _), receiver)| {
                // A thread that has panicked sends nothing more; the panic goes on at the end of the scope.
                receiver.recv().map_or(Ok(()), |built| visit_built(name, built))
            })
        })
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
