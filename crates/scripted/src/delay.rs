//! A timer that works without an async runtime.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Completes after a duration. A thread of its own does the waiting, so any executor can await it.
pub(crate) struct Delay {
    shared: Arc<Mutex<Shared>>,
    duration: Duration,
    started: bool,
}

#[derive(Default)]
struct Shared {
    over: bool,
    waker: Option<Waker>,
}

impl Delay {
    pub(crate) fn new(duration: Duration) -> Self {
        Self { shared: Arc::default(), duration, started: false }
    }
}

impl Future for Delay {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        {
            let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            if shared.over {
                return Poll::Ready(());
            }
            shared.waker = Some(context.waker().clone());
        }
        // Started on the first poll, because only then a waker exists.
        if !self.started {
            self.started = true;
            let (shared, duration) = (Arc::clone(&self.shared), self.duration);
            std::thread::spawn(move || {
                std::thread::sleep(duration);
                let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                shared.over = true;
                if let Some(waker) = shared.waker.take() {
                    waker.wake();
                }
            });
        }
        Poll::Pending
    }
}
