//! What can be worked out while the walk is busy elsewhere.
//!
//! Only what follows from things that never change: the thread that walks is the only one that evaluates and acts.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{self, Builder};

use crate::config_graph::ConfigGraph;

/// Does `own` on this thread and `other` on another one.
pub fn beside<A, B: Send>(own: impl FnOnce() -> A, other: impl Fn() -> B + Sync) -> (A, B) {
    thread::scope(|scope| {
        let Ok(thread) = Builder::new().name("ahead".to_owned()).spawn_scoped(scope, &other) else {
            // Without a thread it only takes longer.
            return (own(), other());
        };
        (own(), thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

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

/// Makes room in the heap of a thread that is going to keep something for so many things.
///
/// The allocator of glibc grows the heaps of threads page by page, each time by a call that halts the page faults of all
/// threads. What was room once stays room: it has it from a few calls, and is given no memory before that is written to.
pub(crate) fn make_room(things: usize) {
    /// The allocator has larger blocks from the system one by one.
    const BLOCK: usize = 120 << 10;
    /// About what is kept for each.
    const EACH: usize = 800;
    /// A heap does not grow beyond 64 MB; what comes after that makes its own room.
    const MOST: usize = 256;
    let blocks = (things.saturating_mul(EACH) / BLOCK).min(MOST);
    let block = |_| {
        let mut block: Vec<u8> = Vec::new();
        // Where memory is short, it is left to those who need it.
        block.try_reserve_exact(BLOCK).is_ok().then_some(block)
    };
    let blocks: Vec<Vec<u8>> = (0..blocks).map_while(block).collect();
    drop(std::hint::black_box(blocks));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_things_are_done_beside_each_other() {
        let texts: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
        let own = thread::current().id();
        let total = || texts.iter().map(String::len).sum::<usize>();
        assert_eq!(beside(|| thread::current().id() == own, total), (true, 2890));
    }
}
