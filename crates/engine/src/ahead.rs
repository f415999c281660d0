//! Work that is done on other threads before the walk needs its result.
//!
//! Only results that depend on immutable data are computed here: the thread that walks is the only one that evaluates and acts.

use std::sync::Arc;
use std::thread::Builder;

use crate::config_graph::ConfigGraph;
use crate::thread_heap::make_room;

/// Computes on another thread what the walk asks of the graph later. A caller that asks earlier waits for the result.
pub(crate) fn ask_ahead(graph: &Arc<ConfigGraph>) {
    let graph = Arc::clone(graph);
    // Without a thread it is worked out when it is asked for.
    let ask = move || {
        make_room(graph.modules().map(|(_, module)| module.len()).sum());
        _ = graph.ancestors();
    };
    let _ = Builder::new().name("ahead".to_owned()).spawn(ask);
}
