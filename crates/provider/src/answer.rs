//! The future of a provider's response, free of cost when the response is there at once.

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

/// A response that is there already, or comes later.
///
/// Awaiting works for both. A caller that plans a hundred thousand instances a second asks [`Answer::now`] first: an
/// in-process provider that needs no input or output answers without an allocation and without a runtime.
#[must_use = "a call of a provider does nothing until its answer is awaited"]
pub struct Answer<'a, T>(State<'a, T>);

enum State<'a, T> {
    Ready(T),
    Later(Pin<Box<dyn Future<Output = T> + Send + 'a>>),
    Taken,
}

impl<'a, T> Answer<'a, T> {
    /// A response that is there.
    pub fn ready(response: T) -> Self {
        Self(State::Ready(response))
    }

    /// A response that comes from `future`.
    pub fn later(future: impl Future<Output = T> + Send + 'a) -> Self {
        Self(State::Later(Box::pin(future)))
    }

    /// The response if it is there, else the answer itself for awaiting.
    ///
    /// # Errors
    ///
    /// The answer, unchanged, when its response is still to come.
    pub fn now(self) -> Result<T, Self> {
        match self.0 {
            State::Ready(response) => Ok(response),
            other => Err(Self(other)),
        }
    }

    /// The response, for which this thread waits: for places where nothing else goes on.
    pub fn wait(self) -> T
    where
        T: Unpin,
    {
        match self.now() {
            Ok(response) => response,
            Err(answer) => wait(answer),
        }
    }

    /// The same answer with `change` applied to its response.
    pub fn map<U>(self, change: impl FnOnce(T) -> U + Send + 'a) -> Answer<'a, U>
    where
        T: Send + 'a,
    {
        match self.0 {
            State::Ready(response) => Answer::ready(change(response)),
            State::Later(future) => Answer::later(async move { change(future.await) }),
            State::Taken => Answer(State::Taken),
        }
    }

    /// Calls `next` with the response, and answers as that does.
    pub fn then<U>(self, next: impl FnOnce(T) -> Answer<'a, U> + Send + 'a) -> Answer<'a, U>
    where
        T: Send + 'a,
        U: Unpin + Send,
    {
        match self.0 {
            State::Ready(response) => next(response),
            State::Later(future) => Answer::later(async move { next(future.await).await }),
            State::Taken => Answer(State::Taken),
        }
    }
}

impl<'a, T: Unpin + Send + 'a> Answer<'a, Vec<T>> {
    /// Asks `ask` about each of `items`, one after the other; ready when all the answers are.
    pub fn in_turn<I: Send + 'a>(items: Vec<I>, ask: impl Fn(I) -> Answer<'a, T> + Send + 'a) -> Self {
        let mut done = Vec::with_capacity(items.len());
        let mut items = items.into_iter();
        while let Some(item) = items.next() {
            match ask(item).now() {
                Ok(response) => done.push(response),
                Err(answer) => {
                    return Answer::later(async move {
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
        match std::mem::replace(&mut this.0, State::Taken) {
            State::Ready(response) => Poll::Ready(response),
            State::Later(mut future) => match future.as_mut().poll(context) {
                Poll::Ready(response) => Poll::Ready(response),
                Poll::Pending => {
                    this.0 = State::Later(future);
                    Poll::Pending
                }
            },
            // As with other futures there is nothing to give to whoever polls after the end.
            State::Taken => Poll::Pending,
        }
    }
}

impl<T> fmt::Debug for Answer<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            State::Ready(_) => "Answer(ready)",
            State::Later(_) => "Answer(later)",
            State::Taken => "Answer(taken)",
        })
    }
}

/// Waits for a future on this thread.
fn wait<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    #[test]
    fn a_ready_answer_needs_no_polling() {
        assert_eq!(Answer::ready(1).map(|n| n + 1).now().unwrap(), 2);
    }

    #[test]
    fn answers_in_turn_are_ready_when_each_is() {
        assert_eq!(Answer::in_turn(vec![1, 2], |n| Answer::ready(n * 10)).now().unwrap(), [10, 20]);
        let mixed = |n: i32| if n == 2 { Answer::later(async move { n * 10 }) } else { Answer::ready(n * 10) };
        let mut answer = Answer::in_turn(vec![1, 2, 3], mixed).now().unwrap_err();
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(Pin::new(&mut answer).poll(&mut context), Poll::Ready(vec![10, 20, 30]));
    }

    #[test]
    fn a_later_answer_is_polled_once_it_is_wanted() {
        let answer = Answer::later(async { 1 }).map(|n| n + 1).then(|n| Answer::ready(n * 10));
        let mut answer = answer.now().unwrap_err();
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(Pin::new(&mut answer).poll(&mut context), Poll::Ready(20));
    }
}
