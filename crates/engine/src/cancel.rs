//! Cancellation of a run: graceful after the first interrupt, immediate after the second.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use groma_provisioning::{Interruption, Urgency};
use tokio::sync::Notify;

/// The urgency of a request to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// No interrupt was received.
    No,
    /// Start nothing new; finish and record what is under way.
    Gracefully,
    /// Stop immediately and record the known results.
    Now,
}

/// Shared by the signal handler and the walk.
#[derive(Clone, Debug, Default)]
pub struct Cancellation {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    requests: AtomicU8,
    changed: Notify,
}

impl Cancellation {
    /// One that nobody has asked for yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks once more: the first request is graceful, the second means now.
    pub fn request(&self) -> Stop {
        let before =
            // Capped, so that any number of further requests still means now.
            self.inner.requests.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| Some(n.saturating_add(1).min(2)));
        // All waiters are woken, because each may wait for another urgency.
        self.inner.changed.notify_waiters();
        if before == Ok(0) { Stop::Gracefully } else { Stop::Now }
    }

    /// Returns the most urgent request so far.
    pub fn state(&self) -> Stop {
        match self.inner.requests.load(Ordering::SeqCst) {
            0 => Stop::No,
            1 => Stop::Gracefully,
            _ => Stop::Now,
        }
    }

    /// Waits until at least `stop` was asked for.
    pub async fn at_least(&self, stop: Stop) {
        loop {
            let changed = self.inner.changed.notified();
            tokio::pin!(changed);
            // Registered before the check, so that a request between check and wait is not missed.
            changed.as_mut().enable();
            if self.state() >= stop {
                return;
            }
            changed.await;
        }
    }
}

impl Interruption for Cancellation {
    fn urgency(&self) -> Option<Urgency> {
        match self.state() {
            Stop::No => None,
            Stop::Gracefully => Some(Urgency::Interrupt),
            Stop::Now => Some(Urgency::Kill),
        }
    }

    fn at_least(&self, urgency: Urgency) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let stop = match urgency {
            Urgency::Interrupt => Stop::Gracefully,
            Urgency::Kill => Stop::Now,
        };
        Box::pin(Self::at_least(self, stop))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_request_is_graceful_and_the_second_means_now() {
        let cancellation = Cancellation::new();
        assert_eq!(cancellation.state(), Stop::No);
        assert_eq!(cancellation.request(), Stop::Gracefully);
        assert_eq!(cancellation.request(), Stop::Now);
        assert_eq!(cancellation.request(), Stop::Now);
        // A third request must not wrap around to a weaker one.
        assert_eq!(cancellation.state(), Stop::Now);
    }
}
