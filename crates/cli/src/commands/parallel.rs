//! Runs two computations in parallel.

use std::panic::resume_unwind;
use std::thread::{self, Builder};

/// Runs `here` on this thread and `there` on another one.
pub(super) fn parallel<A, B: Send>(here: impl FnOnce() -> A, there: impl Fn() -> B + Sync) -> (A, B) {
    thread::scope(|scope| {
        let Ok(thread) = Builder::new().name("parallel".to_owned()).spawn_scoped(scope, &there) else {
            // The process limit may forbid another thread; the computations then run one after the other.
            return (here(), there());
        };
        (here(), thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_both_computations_in_parallel() {
        let texts: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
        let own = thread::current().id();
        let total = || texts.iter().map(String::len).sum::<usize>();
        assert_eq!(parallel(|| thread::current().id() == own, total), (true, 2890));
    }
}
