//! Cancellation of all provider calls: a provider that hangs must not delay a program that was asked to stop
//! immediately.

use std::future::Future;
use std::sync::LazyLock;

use groma_provider::{ProviderDiagnostic, ProviderDiagnostics};
use tokio::sync::watch::Sender;
use tonic::Status;

static CANCELLED: LazyLock<Sender<bool>> = LazyLock::new(|| Sender::new(false));

/// Fails all calls in flight, all later calls and all process starts immediately.
pub fn cancel_all() {
    CANCELLED.send_replace(true);
}

/// Awaits a call unless it is cancelled.
pub(super) async fn unless_cancelled_call<T>(call: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    unless_cancelled(call).await.unwrap_or_else(|| Err(Status::cancelled("the call was abandoned")))
}

/// Awaits the start of a process unless it is cancelled.
pub(super) async fn unless_cancelled_start<T>(
    start: impl Future<Output = Result<T, ProviderDiagnostics>>,
) -> Result<T, ProviderDiagnostics> {
    unless_cancelled(start).await.unwrap_or_else(|| {
        let detail = "The run was cancelled before the provider was ready.";
        Err(ProviderDiagnostic::error("Request cancelled", detail).into())
    })
}

async fn unless_cancelled<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut cancelled = CANCELLED.subscribe();
    tokio::select! {
        // A result that is already available takes precedence over the cancellation.
        biased;
        result = work => Some(result),
        _ = cancelled.wait_for(|cancelled| *cancelled) => None,
    }
}
