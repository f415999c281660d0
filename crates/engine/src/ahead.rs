//! What can be worked out while the walk is busy elsewhere.

use std::panic::resume_unwind;
use std::sync::{Arc, LazyLock};
use std::thread;

use crate::config_graph::ConfigGraph;

/// Something that is there when it is asked for.
pub(crate) type Ahead<T> = LazyLock<T, Box<dyn FnOnce() -> T + Send>>;

/// Works something out on a thread of its own. Whoever asks for it waits until it is there.
///
/// Only for what follows from things that never change: the thread that walks is the only one that evaluates and acts.
pub(crate) fn ahead<T: Send + 'static>(make: impl Fn() -> T + Send + Sync + 'static) -> Ahead<T> {
    let make = Arc::new(make);
    let own = Arc::clone(&make);
    match thread::Builder::new().name("ahead".to_owned()).spawn(move || own()) {
        Ok(thread) => Ahead::new(Box::new(|| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))),
        Err(_) => Ahead::new(Box::new(move || make())),
    }
}

/// Works out on a thread of its own what a graph is asked for later: whoever asks meanwhile waits until it is there.
pub(crate) fn ask_ahead(graph: &Arc<ConfigGraph>) {
    let graph = Arc::clone(graph);
    // Without a thread it is worked out when it is asked for.
    let _ = thread::Builder::new().name("ahead".to_owned()).spawn(move || _ = graph.ancestors());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_worked_out_ahead_is_there_when_it_is_asked_for() {
        let texts: Arc<[String]> = (0..1000).map(|number| number.to_string()).collect();
        let shared = Arc::clone(&texts);
        let total = ahead(move || shared.iter().map(String::len).sum::<usize>());
        assert_eq!((*total, *total), (2890, 2890));
    }
}
