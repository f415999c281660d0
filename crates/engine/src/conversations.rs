//! The conversations with providers that go on at once, under whichever walk started them.
//!
//! One that has to wait goes on where the session says: beside the processes that it is held with, a question after an answer
//! wakes no other thread. So no conversation may block the thread to wait for an answer. Some more than may go on are made
//! ready and wait there for their turn: when one ends, the next begins without the walk, which may be busy or asleep. What
//! has not begun when the run is to stop never does, and leaves no trace: reports and journal records at the beginning of a call
//! are part of the call.

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

/// Conversations that each come to an `E`: as many as `-parallelism` allows, and none more once the run is to stop.
pub struct Conversations<E> {
    under_way: JoinSet<Option<Ended<E>>>,
    place: fn() -> Handle,
    at_once: usize,
    turns: Arc<Semaphore>,
    /// The permit of the call that ended last, kept for its continuation.
    kept: Option<Turn>,
    cancellation: Cancellation,
    stopping: Stopping,
}

/// A permit to have a provider call in flight.
type Turn = OwnedSemaphorePermit;

type Talk<E> = Pin<Box<dyn Future<Output = E> + Send>>;

/// The continuation after a provider call has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequel {
    /// No continuation: another call may begin.
    Nothing,
    /// It may go on with a further one ([`Conversations::go_on`]), which has its turn.
    Further,
}

struct Ended<E> {
    event: E,
    kept: Option<Turn>,
}

impl<E> Ended<E> {
    fn new(event: E, turn: Turn, sequel: Sequel) -> Self {
        Self { event, kept: Some(turn).filter(|_| sequel == Sequel::Further) }
    }
}

/// Whether the providers know that they are to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stopping {
    Untold,
    Told,
}

impl<E: Send + 'static> Conversations<E> {
    /// Creates an empty set of in-flight calls.
    pub fn new(session: &Session) -> Self {
        Self {
            under_way: JoinSet::new(),
            place: session.conversations,
            at_once: session.parallelism,
            turns: Arc::new(Semaphore::new(session.parallelism.min(Semaphore::MAX_PERMITS))),
            kept: None,
            cancellation: session.cancellation.clone(),
            stopping: Stopping::Untold,
        }
    }

    /// Whether another may be made ready. Fewer wait than go on, so that one at a time means that nothing is prepared
    /// before what comes first has ended.
    pub fn has_room(&self) -> bool {
        self.under_way.len() < self.at_once.saturating_mul(2) - 1 && !self.is_stopping()
    }

    /// Whether another would begin at once.
    pub fn has_turn(&self) -> bool {
        self.turns.available_permits() > 0 && !self.is_stopping()
    }

    /// Whether somebody asked the run to stop.
    pub fn is_stopping(&self) -> bool {
        self.cancellation.state() != Stop::No
    }

    /// Starts one, or lets it wait for its turn. One that ends at once gives what it came to, without any bookkeeping.
    pub async fn start(&mut self, conversation: impl Future<Output = E> + Send + 'static, sequel: Sequel) -> Option<E> {
        self.kept = None;
        let mut conversation: Talk<E> = Box::pin(conversation);
        let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() else {
            self.wait_for_turn(conversation, sequel);
            return None;
        };
        match futures_util::poll!(conversation.as_mut()) {
            Poll::Ready(event) => {
                let ended = Ended::new(event, turn, sequel);
                self.kept = ended.kept;
                Some(ended.event)
            }
            Poll::Pending => {
                let talk = async move { Some(Ended::new(conversation.await, turn, sequel)) };
                self.under_way.spawn_on(talk, &(self.place)());
                None
            }
        }
    }

    fn wait_for_turn(&mut self, conversation: Talk<E>, sequel: Sequel) {
        let (turns, cancellation) = (Arc::clone(&self.turns), self.cancellation.clone());
        let talk = async move {
            let turn = turns.acquire_owned().await.ok()?;
            let begins = cancellation.state() == Stop::No;
            if begins { Some(Ended::new(conversation.await, turn, sequel)) } else { None }
        };
        self.under_way.spawn_on(talk, &(self.place)());
    }

    /// Starts one in the turn of the conversation that ended last; it begins when the next is waited for, be the run to stop
    /// or not.
    pub fn go_on(&mut self, conversation: impl Future<Output = E> + Send + 'static) {
        let turn = self.kept.take();
        debug_assert!(turn.is_some(), "what goes on has said so when it started");
        let talk = async move {
            let event = conversation.await;
            drop(turn);
            Some(Ended { event, kept: None })
        };
        self.under_way.spawn_on(talk, &(self.place)());
    }

    /// Returns the result of the first call that ends; `None` when no call is in flight, or when the run stops without waiting. The first
    /// request to stop is handed on to `providers`.
    pub async fn next(&mut self, providers: &Providers) -> Option<E> {
        self.kept = None;
        loop {
            tokio::select! {
                ended = self.under_way.join_next() => {
                    if let Some(Ended { event, kept }) = came_to(ended?) {
                        self.kept = kept;
                        return Some(event);
                    }
                }
                () = self.cancellation.at_least(Stop::Now) => {
                    // What they would still begin, nobody would take down.
                    self.under_way = JoinSet::new();
                    return None;
                }
                () = self.cancellation.at_least(Stop::Gracefully), if self.stopping == Stopping::Untold => {
                    self.stopping = Stopping::Told;
                    providers.stop();
                }
            }
        }
    }
}

/// A panic in a conversation is one of the run; nothing else ends it without an event, but that it never began.
fn came_to<E>(ended: Result<Option<Ended<E>>, JoinError>) -> Option<Ended<E>> {
    ended.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}
