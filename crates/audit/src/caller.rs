//! Calls of a provider that come to an end.

use std::sync::Arc;
use std::time::Duration;

use groma_provider::{Answer, CallFate, FunctionError, Provider, ProviderDiagnostic, ProviderDiagnostics};

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

/// Whether a diagnostic stands for a call that the provider did not survive: it was not answered, or the provider's code panicked.
/// A panic in another process is known by its summary alone, since the protocol says no more about it.
fn is_silence(problem: &ProviderDiagnostic) -> bool {
    problem.fate != CallFate::Answered || problem.summary == "Provider code panicked"
}

/// Whether the error of a function stands for such a call.
pub(crate) fn is_silent(error: &FunctionError) -> bool {
    error.fate != CallFate::Answered || error.text.contains("stopped with a panic")
}

/// A trace of calls is for those who have the provider's source.
fn first_lines(detail: &str) -> String {
    detail.lines().filter(|line| !line.trim().is_empty()).take(4).collect::<Vec<_>>().join(" ")
}
