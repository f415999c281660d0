//! Answers that a thread of their own works out: the work may block, and any executor can wait for it.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

use groma_provider::Answer;

struct Shared<T> {
    result: Option<T>,
    waker: Option<Waker>,
}

/// Runs `work` on a new thread once the answer is awaited.
pub(super) fn on_own_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Answer<'static, T> {
    let shared = Arc::new(Mutex::new(Shared { result: None, waker: None }));
    let mut work = Some(work);
    Answer::pending(poll_fn(move |context| {
        let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(result) = state.result.take() {
            return Poll::Ready(result);
        }
        state.waker = Some(context.waker().clone());
        if let Some(work) = work.take() {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || {
                let result = work();
                let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
                state.result = Some(result);
                if let Some(waker) = state.waker.take() {
                    waker.wake();
                }
            });
        }
        Poll::Pending
    }))
}
