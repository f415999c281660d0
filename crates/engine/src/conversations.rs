//! The conversations with providers that go on at once, under whichever walk started them.
//!
//! One that has to wait goes on where the session says: beside the processes that it is held with, a question after an answer
//! wakes no other thread. So no conversation may block the thread to wait for an answer.

use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinSet};

use crate::cancel::{Cancellation, Stop};
use crate::providers::Providers;
use crate::session::Session;

/// Conversations that each come to an `E`: as many as `-parallelism` allows, and none more once the run is to stop.
pub struct Conversations<E> {
    under_way: JoinSet<E>,
    place: fn() -> Handle,
    at_once: usize,
    cancellation: Cancellation,
}

type Talk<E> = Pin<Box<dyn Future<Output = E> + Send>>;

impl<E: Send + 'static> Conversations<E> {
    /// None yet.
    pub fn new(session: &Session) -> Self {
        Self {
            under_way: JoinSet::new(),
            place: session.conversations,
            at_once: session.parallelism,
            cancellation: session.cancellation.clone(),
        }
    }

    /// Whether another may be started.
    pub fn has_room(&self) -> bool {
        self.under_way.len() < self.at_once && !self.is_stopping()
    }

    /// Whether somebody asked the run to stop.
    pub fn is_stopping(&self) -> bool {
        self.cancellation.state() != Stop::No
    }

    /// Starts one. One that ends at once gives what it came to, without any bookkeeping.
    pub async fn start(&mut self, conversation: impl Future<Output = E> + Send + 'static) -> Option<E> {
        let mut conversation: Talk<E> = Box::pin(conversation);
        match futures_util::poll!(conversation.as_mut()) {
            Poll::Ready(event) => Some(event),
            Poll::Pending => {
                self.under_way.spawn_on(conversation, &(self.place)());
                None
            }
        }
    }

    /// Adds one that goes on where another has ended; it begins when the next is waited for.
    pub fn add(&mut self, conversation: impl Future<Output = E> + Send + 'static) {
        self.under_way.spawn_on(conversation, &(self.place)());
    }

    /// What the first to end comes to; nothing when none goes on, or when nobody wants to wait for them any more. The first
    /// request to stop is handed on to `providers`.
    pub async fn next(&mut self, providers: &Providers) -> Option<E> {
        loop {
            if self.under_way.is_empty() {
                return None;
            }
            tokio::select! {
                event = self.under_way.join_next() => return event.map(came_to),
                () = self.cancellation.at_least(Stop::Now) => {
                    // What they would still begin, nobody would take down.
                    self.under_way = JoinSet::new();
                    return None;
                }
                () = self.cancellation.at_least(Stop::Gracefully), if !self.is_stopping() => providers.stop(),
            }
        }
    }
}

/// A panic in a conversation is one of the run; nothing else ends it without an event.
fn came_to<E>(ended: Result<E, JoinError>) -> E {
    ended.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}
