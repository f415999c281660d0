//! Durable records of results, before anything depends on them.

use std::pin::Pin;

use groma_address::{ProviderConfig, ResourceInstance};
use groma_diagnostics::Diagnostic;
use groma_state::{Begin, DeposedKey, Journal, ObjectRecord, Outcome};

/// The wait until records outlive the machine of the run.
pub type Durability<'a> = Pin<Box<dyn Future<Output = Result<(), Diagnostic>> + Send + 'a>>;

/// Takes down what a run is about to do and what came of it, so that a killed run loses nothing.
pub trait Recorder: Send + Sync {
    /// A provider is about to be asked to change something.
    ///
    /// # Errors
    ///
    /// It cannot be written down; the provider must not be asked.
    fn begin(&self, begin: &Begin) -> Result<(), Diagnostic>;

    /// Waits until everything recorded so far outlives the machine of the run, if the state is shared by several.
    ///
    /// # Errors
    ///
    /// Another run has taken over the state; the provider must not be asked.
    fn durable(&self) -> Durability<'_> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Records the new object at an address; `before` is the former one.
    ///
    /// # Errors
    ///
    /// The record cannot be written; dependent operations must not start.
    fn finished(
        &self,
        address: &ResourceInstance,
        deposed: Option<&DeposedKey>,
        provider: &ProviderConfig,
        before: Option<&ObjectRecord>,
        outcome: Outcome,
    ) -> Result<(), Diagnostic>;

    /// Records that the fate of a call in flight is known.
    ///
    /// # Errors
    ///
    /// It cannot be written down.
    fn resolved(&self, address: &ResourceInstance, deposed: Option<&DeposedKey>) -> Result<(), Diagnostic>;
}

impl Recorder for Journal {
    fn begin(&self, begin: &Begin) -> Result<(), Diagnostic> {
        Journal::begin(self, begin).map_err(|problem| problem.into())
    }

    fn durable(&self) -> Durability<'_> {
        let durable = Journal::durable(self);
        Box::pin(async move { durable.await.map_err(Diagnostic::from) })
    }

    fn finished(
        &self,
        address: &ResourceInstance,
        deposed: Option<&DeposedKey>,
        provider: &ProviderConfig,
        before: Option<&ObjectRecord>,
        outcome: Outcome,
    ) -> Result<(), Diagnostic> {
        Journal::finished(self, address, deposed, provider, before, outcome).map_err(|problem| problem.into())
    }

    fn resolved(&self, address: &ResourceInstance, deposed: Option<&DeposedKey>) -> Result<(), Diagnostic> {
        Journal::resolved(self, address, deposed).map_err(|problem| problem.into())
    }
}

/// Takes nothing down: for runs whose state is kept by the caller alone, such as tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unrecorded;

impl Recorder for Unrecorded {
    fn begin(&self, _: &Begin) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn finished(
        &self,
        _: &ResourceInstance,
        _: Option<&DeposedKey>,
        _: &ProviderConfig,
        _: Option<&ObjectRecord>,
        _: Outcome,
    ) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn resolved(&self, _: &ResourceInstance, _: Option<&DeposedKey>) -> Result<(), Diagnostic> {
        Ok(())
    }
}
