//! That nobody waits for an answer any more: a provider that hangs must not keep a program from ending that was asked to stop at once.

use std::future::Future;
use std::sync::LazyLock;

use groma_provider::{ProviderDiagnostic, ProviderDiagnostics};
use tokio::sync::watch::Sender;
use tonic::Status;

static GIVEN_UP: LazyLock<Sender<bool>> = LazyLock::new(|| Sender::new(false));

/// Lets every call that is under way, every one that begins later and every start of a process fail at once.
pub fn give_up() {
    GIVEN_UP.send_replace(true);
}

/// What a call comes to, unless it is given up before.
pub(super) async fn answered<T>(call: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    unless_given_up(call).await.unwrap_or_else(|| Err(Status::cancelled("nobody waits for the answer")))
}

/// What the start of a process comes to, unless it is given up before.
pub(super) async fn started<T>(
    start: impl Future<Output = Result<T, ProviderDiagnostics>>,
) -> Result<T, ProviderDiagnostics> {
    unless_given_up(start).await.unwrap_or_else(|| {
        let detail = "The program was asked to stop at once before the provider was ready.";
        Err(ProviderDiagnostic::error("Request cancelled", detail).into())
    })
}

async fn unless_given_up<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut given_up = GIVEN_UP.subscribe();
    tokio::select! {
        // What is there already counts.
        biased;
        result = work => Some(result),
        _ = given_up.wait_for(|given_up| *given_up) => None,
    }
}
