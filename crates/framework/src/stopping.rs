//! The host's request that running operations end soon (FW-22).

use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

/// The host's request that running operations end soon, after an interrupt. The host waits for running operations and
/// keeps their results. A loop that waits for a service should end early with an error and with the object as it is.
#[derive(Clone, Default)]
pub struct StopSignal(Arc<StopRequest>);

#[derive(Default)]
struct StopRequest {
    requested: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
}

impl StopSignal {
    /// Whether the host has requested a stop.
    pub fn is_requested(&self) -> bool {
        self.0.requested.load(Ordering::SeqCst)
    }

    /// Waits until the host requests a stop, for use in `select`.
    pub async fn requested(&self) {
        poll_fn(|context| {
            let mut waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if self.is_requested() {
                return Poll::Ready(());
            }
            // A future that is polled repeatedly registers its waker once.
            if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                waiting.push(context.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    /// Sets the signal and wakes every waiting call.
    fn request(&self) {
        let waiting = {
            let mut waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            self.0.requested.store(true, Ordering::SeqCst);
            std::mem::take(&mut *waiting)
        };
        // After the lock is released, because a waker may poll the future at once.
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// The signals of running calls. A request to stop applies to calls in flight and not to later ones, because an
/// attached process continues to serve after an interrupt.
#[derive(Clone, Debug, Default)]
pub struct StopSignals(Arc<Mutex<StopSignal>>);

impl StopSignals {
    /// Returns the signal for a call that begins now.
    pub fn for_call(&self) -> StopSignal {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Signals all calls in flight.
    pub fn stop(&self) {
        // Replaced by a new signal, so that later calls are not stopped.
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).request();
    }
}

impl fmt::Debug for StopSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StopSignal({})", if self.is_requested() { "requested" } else { "not requested" })
    }
}
