//! Calls of a provider that come to an end.

use std::sync::Arc;
use std::time::Duration;

use groma_provider::{Answer, Provider, ProviderDiagnostic, ProviderDiagnostics};

/// Why there was no answer.
pub(crate) type Silence = String;

/// A provider with the patience of whoever calls it.
pub(crate) struct Caller {
    pub(crate) provider: Arc<dyn Provider>,
    runtime: Arc<tokio::runtime::Runtime>,
    patience: Duration,
}

impl Caller {
    pub(crate) fn new(provider: Arc<dyn Provider>, runtime: Arc<tokio::runtime::Runtime>, patience: Duration) -> Self {
        Self { provider, runtime, patience }
    }

    /// The response of a call, when there is one in time.
    pub(crate) fn call<'a, T: Unpin + Send>(
        &'a self,
        call: impl FnOnce(&'a dyn Provider) -> Answer<'a, T>,
        diagnostics: impl FnOnce(&T) -> &ProviderDiagnostics,
    ) -> Result<T, Silence> {
        let _guard = self.runtime.enter();
        let answer = call(&*self.provider);
        let limited = async { tokio::time::timeout(self.patience, answer).await };
        let response = self
            .runtime
            .block_on(limited)
            .map_err(|_| format!("there was no answer within {} seconds", self.patience.as_secs()))?;
        match diagnostics(&response).iter().find(|problem| is_silence(problem)) {
            Some(problem) => Err(first_lines(&problem.detail)),
            None => Ok(response),
        }
    }
}

/// Whether a diagnostic stands for a call that the provider did not survive: the client's word for a process that ended, and
/// the framework's for a panic.
fn is_silence(problem: &ProviderDiagnostic) -> bool {
    matches!(
        &*problem.summary,
        "Plugin did not respond" | "Failed to talk to provider" | "Failed to start provider" | "Provider code panicked"
    )
}

/// The same for what a function says, which has no summary.
pub(crate) fn tells_of_silence(text: &str) -> bool {
    [
        "ended during the call",
        "The connection to the provider",
        "The conversation could not go on",
        "stopped with a panic",
    ]
    .iter()
    .any(|words| text.contains(words))
}

/// A trace of calls is for those who have the provider's source.
fn first_lines(detail: &str) -> String {
    detail.lines().filter(|line| !line.trim().is_empty()).take(4).collect::<Vec<_>>().join(" ")
}
