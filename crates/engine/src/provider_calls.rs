//! Provider calls in flight, for planning and applying.
//!
//! A call that does not complete at once continues on the session's call runtime, the thread that talks to the plugin processes, so
//! a request after a response wakes no other thread. Therefore no call may block that thread. Some calls beyond the limit of
//! `-parallelism` are prepared there in advance: when a call ends, the next one begins without the walk, which may be busy or
//! asleep. Calls that have not begun when the run is cancelled never begin. They leave no trace, because progress reports and journal
//! records at the beginning of a call are part of the call.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinError, JoinSet};

use crate::cancel::{Cancellation, Stop};
use crate::providers::Providers;
use crate::session::Session;

/// Concurrent provider calls that each return an `E`: as many as `-parallelism` allows, and no new ones after a cancellation.
pub struct ProviderCalls<E> {
    in_flight: JoinSet<Option<Ended<E>>>,
    runtime: Arc<dyn Fn() -> Handle + Send + Sync>,
    at_once: usize,
    turns: Arc<Semaphore>,
    /// The permit of the call that ended last, kept for its continuation.
    kept: Option<Turn>,
    cancellation: Cancellation,
    stopping: Stopping,
}

/// A permit to have a provider call in flight.
type Turn = OwnedSemaphorePermit;

type Call<E> = Pin<Box<dyn Future<Output = E> + Send>>;

/// The continuation after a provider call has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// The call is complete, and another one may begin.
    Nothing,
    /// Another call may follow under the same permit ([`ProviderCalls::go_on`]).
    Further,
}

struct Ended<E> {
    event: E,
    kept: Option<Turn>,
}

impl<E> Ended<E> {
    fn new(event: E, turn: Turn, continuation: Continuation) -> Self {
        Self { event, kept: Some(turn).filter(|_| continuation == Continuation::Further) }
    }
}

/// Whether the providers were asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stopping {
    NotRequested,
    Requested,
}

impl<E: Send + 'static> ProviderCalls<E> {
    /// Creates an empty set of in-flight calls.
    pub fn new(session: &Session) -> Self {
        Self {
            in_flight: JoinSet::new(),
            runtime: Arc::clone(&session.call_runtime),
            at_once: session.parallelism,
            turns: Arc::new(Semaphore::new(session.parallelism.min(Semaphore::MAX_PERMITS))),
            kept: None,
            cancellation: session.cancellation.clone(),
            stopping: Stopping::NotRequested,
        }
    }

    /// Whether another call may be prepared. Fewer calls wait than run, so with `-parallelism=1` nothing is prepared before the
    /// previous call has ended.
    pub fn has_room(&self) -> bool {
        self.in_flight.len() < self.at_once.saturating_mul(2) - 1 && !self.is_stopping()
    }

    /// Whether another call would begin at once.
    pub fn has_turn(&self) -> bool {
        self.turns.available_permits() > 0 && !self.is_stopping()
    }

    /// Whether the run was cancelled.
    pub fn is_stopping(&self) -> bool {
        self.cancellation.state() != Stop::No
    }

    /// Starts a call, or queues it for a permit. Returns the result of a call that completes at once.
    pub async fn start(
        &mut self,
        call: impl Future<Output = E> + Send + 'static,
        continuation: Continuation,
    ) -> Option<E> {
        self.kept = None;
        let mut call: Call<E> = Box::pin(call);
        let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() else {
            self.wait_for_turn(call, continuation);
            return None;
        };
        match futures_util::poll!(call.as_mut()) {
            Poll::Ready(event) => {
                let ended = Ended::new(event, turn, continuation);
                self.kept = ended.kept;
                Some(ended.event)
            }
            Poll::Pending => {
                let call = async move { Some(Ended::new(call.await, turn, continuation)) };
                self.in_flight.spawn_on(call, &(self.runtime)());
                None
            }
        }
    }

    fn wait_for_turn(&mut self, call: Call<E>, continuation: Continuation) {
        let (turns, cancellation) = (Arc::clone(&self.turns), self.cancellation.clone());
        let call = async move {
            let turn = turns.acquire_owned().await.ok()?;
            let begins = cancellation.state() == Stop::No;
            if begins { Some(Ended::new(call.await, turn, continuation)) } else { None }
        };
        self.in_flight.spawn_on(call, &(self.runtime)());
    }

    /// Starts the continuation of the call that ended last, with its permit. It runs even if the run is to stop, from the next wait on.
    pub fn continue_with(&mut self, call: impl Future<Output = E> + Send + 'static) {
        let turn = self.kept.take();
        debug_assert!(turn.is_some(), "a call with a continuation was started with Continuation::Further");
        let call = async move {
            let event = call.await;
            drop(turn);
            Some(Ended { event, kept: None })
        };
        self.in_flight.spawn_on(call, &(self.runtime)());
    }

    /// Returns the result of the first call that ends; `None` when no call is in flight, or when the run stops without waiting. The first
    /// request to stop is handed on to `providers`.
    pub async fn next(&mut self, providers: &Providers) -> Option<E> {
        self.kept = None;
        loop {
            tokio::select! {
                ended = self.in_flight.join_next() => {
                    if let Some(Ended { event, kept }) = came_to(ended?) {
                        self.kept = kept;
                        return Some(event);
                    }
                }
                () = self.cancellation.at_least(Stop::Now) => {
                    // Nobody would record the results of calls that still start.
                    self.in_flight = JoinSet::new();
                    return None;
                }
                () = self.cancellation.at_least(Stop::Gracefully), if self.stopping == Stopping::NotRequested => {
                    self.stopping = Stopping::Requested;
                    providers.stop();
                }
            }
        }
    }
}

/// Returns the result of a call; `None` if it never started. A panic in a call continues here.
fn came_to<E>(ended: Result<Option<Ended<E>>, JoinError>) -> Option<Ended<E>> {
    ended.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}
