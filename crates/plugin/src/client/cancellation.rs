//! Cancellation of provider calls: a provider that hangs must not delay a program that was asked to stop immediately.

use std::future::Future;

use groma_provider::{ProviderDiagnostic, ProviderDiagnostics};
use tokio::sync::watch::Receiver;
use tonic::Status;

/// The receiver of a host's request to abandon all provider calls.
#[derive(Clone)]
pub(super) struct CallCancellation(Receiver<bool>);

impl CallCancellation {
    pub fn new(cancelled: Receiver<bool>) -> Self {
        Self(cancelled)
    }

    /// Awaits a call unless it is cancelled.
    pub async fn unless_cancelled<T>(&self, call: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
        self.first(call).await.unwrap_or_else(|| Err(Status::cancelled("the call was abandoned")))
    }

    /// Awaits the start of a process unless it is cancelled.
    pub async fn unless_start_cancelled<T>(
        &self,
        start: impl Future<Output = Result<T, ProviderDiagnostics>>,
    ) -> Result<T, ProviderDiagnostics> {
        self.first(start).await.unwrap_or_else(|| {
            let detail = "The run was cancelled before the provider was ready.";
            Err(ProviderDiagnostic::error("Request cancelled", detail).into())
        })
    }

    async fn first<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut cancelled = self.0.clone();
        let cancelled = async move {
            // A host that is gone cancels nothing any more.
            if cancelled.wait_for(|cancelled| *cancelled).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            // A result that is already available takes precedence over the cancellation.
            biased;
            result = work => Some(result),
            () = cancelled => None,
        }
    }
}
