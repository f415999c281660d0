//! Provider calls with a timeout.

use std::sync::Arc;
use std::time::Duration;

use groma_provider::{Answer, Provider, ProviderDiagnostic, ProviderDiagnostics};

/// The reason why a call got no response.
pub(crate) type NoResponse = String;

/// A provider whose calls are limited in time.
pub(crate) struct Caller {
    pub(crate) provider: Arc<dyn Provider>,
    runtime: Arc<tokio::runtime::Runtime>,
    call_timeout: Duration,
}

impl Caller {
    pub(crate) fn new(
        provider: Arc<dyn Provider>,
        runtime: Arc<tokio::runtime::Runtime>,
        call_timeout: Duration,
    ) -> Self {
        Self { provider, runtime, call_timeout }
    }

    /// Makes a call; an error if the response does not arrive in time or the provider died.
    pub(crate) fn call<'a, T: Unpin + Send>(
        &'a self,
        call: impl FnOnce(&'a dyn Provider) -> Answer<'a, T>,
        diagnostics: impl FnOnce(&T) -> &ProviderDiagnostics,
    ) -> Result<T, NoResponse> {
        let _guard = self.runtime.enter();
        let answer = call(&*self.provider);
        let limited = async { tokio::time::timeout(self.call_timeout, answer).await };
        let response = self
            .runtime
            .block_on(limited)
            .map_err(|_| format!("no response within {} seconds", self.call_timeout.as_secs()))?;
        match diagnostics(&response).iter().find(|problem| is_no_response(problem)) {
            Some(problem) => Err(first_lines(&problem.detail)),
            None => Ok(response),
        }
    }
}

/// Whether a diagnostic reports that the provider did not survive a call: by the plugin client for a dead process, by
/// the framework for a panic.
fn is_no_response(problem: &ProviderDiagnostic) -> bool {
    matches!(
        &*problem.summary,
        "Plugin did not respond" | "Failed to call provider" | "Failed to start provider" | "Provider code panicked"
    )
}

/// Whether a function error, which has no summary, reports that the provider did not survive the call.
pub(crate) fn mentions_no_response(text: &str) -> bool {
    ["ended during the call", "The connection to the provider", "Cannot run the provider call", "stopped with a panic"]
        .iter()
        .any(|words| text.contains(words))
}

/// Omits a stack trace after the first lines, which is useful only with the provider's source.
fn first_lines(detail: &str) -> String {
    detail.lines().filter(|line| !line.trim().is_empty()).take(4).collect::<Vec<_>>().join(" ")
}
