//! Provider calls with a timeout.

use std::sync::Arc;
use std::time::Duration;

use groma_provider::{Answer, CallFate, FunctionError, Provider, ProviderDiagnostic, ProviderDiagnostics};

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

/// Whether a diagnostic reports that the provider did not survive a call: without an answer, or by a panic in the provider's code.
/// A panic in another process is known by its summary alone, because the protocol carries no more about it.
fn is_no_response(problem: &ProviderDiagnostic) -> bool {
    problem.fate != CallFate::Answered || problem.summary == "Provider code panicked"
}

/// Whether the error of a function reports that the provider did not survive the call.
pub(crate) fn is_function_no_response(error: &FunctionError) -> bool {
    error.fate != CallFate::Answered || error.text.contains("stopped with a panic")
}

/// Omits a stack trace after the first lines, which is useful only with the provider's source.
fn first_lines(detail: &str) -> String {
    detail.lines().filter(|line| !line.trim().is_empty()).take(4).collect::<Vec<_>>().join(" ")
}
