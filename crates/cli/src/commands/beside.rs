//! Two things at once.

use std::panic::resume_unwind;
use std::thread::{self, Builder};

/// Does `own` on this thread and `other` on another one.
pub(super) fn beside<A, B: Send>(own: impl FnOnce() -> A, other: impl Fn() -> B + Sync) -> (A, B) {
    thread::scope(|scope| {
        let Ok(thread) = Builder::new().name("ahead".to_owned()).spawn_scoped(scope, &other) else {
            // Without a thread it only takes longer.
            return (own(), other());
        };
        (own(), thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
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
