//! A provider's response that may be ready or pending; ready responses cost neither an allocation nor a runtime.

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

/// A response that is ready or still pending.
///
/// Awaiting works for both. Planning handles a hundred thousand instances a second, so callers try [`Answer::now`]
/// first: an in-process provider that does no I/O then answers without an allocation and without a runtime.
#[must_use = "a provider call does nothing until its answer is awaited"]
pub struct Answer<'a, T>(State<'a, T>);

enum State<'a, T> {
    Ready(T),
    Pending(Pin<Box<dyn Future<Output = T> + Send + 'a>>),
    Taken,
}

impl<'a, T> Answer<'a, T> {
    /// Creates an answer whose response is ready.
    pub fn ready(response: T) -> Self {
        Self(State::Ready(response))
    }

    /// Creates an answer whose response `future` computes.
    pub fn pending(future: impl Future<Output = T> + Send + 'a) -> Self {
        Self(State::Pending(Box::pin(future)))
    }

    /// Returns the response if it is ready, or else the answer itself to await.
    ///
    /// # Errors
    ///
    /// The unchanged answer, if its response is still pending.
    pub fn now(self) -> Result<T, Self> {
        match self.0 {
            State::Ready(response) => Ok(response),
            other => Err(Self(other)),
        }
    }

    /// Blocks this thread until the response is ready. Only for code that runs outside of the async runtime.
    pub fn wait(self) -> T
    where
        T: Unpin,
    {
        match self.now() {
            Ok(response) => response,
            Err(answer) => wait(answer),
        }
    }

    /// Applies `change` to the response, without boxing if the response is ready.
    pub fn map<U>(self, change: impl FnOnce(T) -> U + Send + 'a) -> Answer<'a, U>
    where
        T: Send + 'a,
    {
        match self.0 {
            State::Ready(response) => Answer::ready(change(response)),
            State::Pending(future) => Answer::pending(async move { change(future.await) }),
            State::Taken => Answer(State::Taken),
        }
    }

    /// Calls `next` with the response and returns the answer of `next`.
    pub fn then<U>(self, next: impl FnOnce(T) -> Answer<'a, U> + Send + 'a) -> Answer<'a, U>
    where
        T: Send + 'a,
        U: Unpin + Send,
    {
        match self.0 {
            State::Ready(response) => next(response),
            State::Pending(future) => Answer::pending(async move { next(future.await).await }),
            State::Taken => Answer(State::Taken),
        }
    }
}

impl<'a, T: Unpin + Send + 'a> Answer<'a, Vec<T>> {
    /// Calls `ask` for each of `items` sequentially; the answer is ready if all individual answers are.
    pub fn sequence<I: Send + 'a>(items: Vec<I>, ask: impl Fn(I) -> Answer<'a, T> + Send + 'a) -> Self {
        let mut done = Vec::with_capacity(items.len());
        let mut items = items.into_iter();
        while let Some(item) = items.next() {
            match ask(item).now() {
                Ok(response) => done.push(response),
                Err(answer) => {
                    return Answer::pending(async move {
                        done.push(answer.await);
                        for item in items {
                            done.push(ask(item).await);
                        }
                        done
                    });
                }
            }
        }
        Answer::ready(done)
    }
}

impl<T: Unpin> Future for Answer<'_, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let this = self.get_mut();
        // Taking the state out avoids a pin projection: the boxed future stays where it is, only its pointer moves.
        match std::mem::replace(&mut this.0, State::Taken) {
            State::Ready(response) => Poll::Ready(response),
            State::Pending(mut future) => match future.as_mut().poll(context) {
                Poll::Ready(response) => Poll::Ready(response),
                Poll::Pending => {
                    this.0 = State::Pending(future);
                    Poll::Pending
                }
            },
            // Polling after completion is a caller's bug; pending is the one result that needs no panic.
            State::Taken => Poll::Pending,
        }
    }
}

impl<T> fmt::Debug for Answer<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            State::Ready(_) => "Answer(ready)",
            State::Pending(_) => "Answer(pending)",
            State::Taken => "Answer(taken)",
        })
    }
}

/// Drives a future to completion on this thread, parked between wakeups.
fn wait<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    // A hand-written executor, because in-process answers must not depend on an async runtime.
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            // A wakeup between poll and park is not lost: unpark stores a token that the next park consumes.
            Poll::Pending => std::thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    #[test]
    fn ready_answer_completes_without_polling() {
        assert_eq!(Answer::ready(1).map(|n| n + 1).now().unwrap(), 2);
    }

    #[test]
    fn sequence_is_ready_if_every_answer_is() {
        assert_eq!(Answer::sequence(vec![1, 2], |n| Answer::ready(n * 10)).now().unwrap(), [10, 20]);
        let mixed = |n: i32| if n == 2 { Answer::pending(async move { n * 10 }) } else { Answer::ready(n * 10) };
        let mut answer = Answer::sequence(vec![1, 2, 3], mixed).now().unwrap_err();
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(Pin::new(&mut answer).poll(&mut context), Poll::Ready(vec![10, 20, 30]));
    }

    #[test]
    fn pending_answer_completes_when_polled() {
        let answer = Answer::pending(async { 1 }).map(|n| n + 1).then(|n| Answer::ready(n * 10));
        let mut answer = answer.now().unwrap_err();
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(Pin::new(&mut answer).poll(&mut context), Poll::Ready(20));
    }
}
