//! What can be worked out while the walk is busy elsewhere.
//!
//! Only what follows from things that never change: the thread that walks is the only one that evaluates and acts.

use std::sync::Arc;
use std::thread::Builder;

use crate::config_graph::ConfigGraph;
use crate::thread_heap::make_room;

/// Works out on a thread of its own what a graph is asked for later: whoever asks meanwhile waits until it is there.
pub(crate) fn ask_ahead(graph: &Arc<ConfigGraph>) {
    let graph = Arc::clone(graph);
    // Without a thread it is worked out when it is asked for.
    let ask = move || {
        make_room(graph.modules().map(|(_, module)| module.len()).sum());
        _ = graph.ancestors();
    };
    let _ = Builder::new().name("ahead".to_owned()).spawn(ask);
}
