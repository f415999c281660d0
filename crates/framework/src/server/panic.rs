//! Panics in provider code become errors of the one call they happen in (FW-21).

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use groma_provider::{Answer, CallFate, ProviderDiagnostic, ProviderDiagnostics};

/// Calls `call`, and converts a panic to an error that names `method`.
pub(super) fn catch<T>(method: &str, call: impl FnOnce() -> T) -> Result<T, ProviderDiagnostics> {
    // Author code cannot leave the framework's state inconsistent, and its own state is protected by poisoned locks.
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| diagnostic(method, &*payload).into())
}

/// Calls `call` and polls its response. A panic at any time produces the response of `failed`.
pub(super) fn guard<'a, T: Send + Unpin + 'a>(
    method: &'static str,
    call: impl FnOnce() -> Answer<'a, T>,
    failed: impl FnOnce(ProviderDiagnostics) -> T + Send + 'a,
) -> Answer<'a, T> {
    match catch(method, call) {
        Err(problems) => Answer::ready(failed(problems)),
        // Ready answers stay ready, so that hosts need no runtime for them.
        Ok(answer) => match answer.now() {
            Ok(response) => Answer::ready(response),
            Err(answer) => Answer::pending(async move {
                match (Guarded { answer, method }).await {
                    Ok(response) => response,
                    Err(problems) => failed(problems),
                }
            }),
        },
    }
}

/// A response whose polling may panic.
struct Guarded<'a, T> {
    answer: Answer<'a, T>,
    method: &'static str,
}

impl<T: Unpin> Future for Guarded<'_, T> {
    type Output = Result<T, ProviderDiagnostics>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        match catch(this.method, || Pin::new(&mut this.answer).poll(context)) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(response)) => Poll::Ready(Ok(response)),
            Err(problems) => Poll::Ready(Err(problems)),
        }
    }
}

fn diagnostic(method: &str, payload: &(dyn Any + Send)) -> ProviderDiagnostic {
    let message = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned());
    ProviderDiagnostic::error(
        "Provider code panicked",
        format!(
            "The provider's {method} stopped with a panic: {message}. The provider goes on, but this operation \
             failed. This is a bug in the provider; please report it to those who develop the provider."
        ),
    )
    // The code may have completed the operation before it panicked.
    .unanswered(CallFate::NoResponse)
}
