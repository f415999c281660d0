//! The context of a call.

use groma_provider::{Deferred, ProviderDiagnostic, ProviderDiagnostics};
use groma_value::Value;

use crate::model::{Model, ModelError};
use crate::stopping::StopSignal;
use crate::{Deferral, ObjectResponse, PrivateData};

/// The context of a call: private data, identity and diagnostics of the object.
#[derive(Debug)]
pub struct Call {
    /// The configuration, the only place of write-only values; null in reads, imports and deletions.
    pub config: Value,
    /// The private data of the object: changes are kept.
    pub private: PrivateData,
    /// The identity of the object, for types with one.
    pub identity: Option<Value>,
    /// Whether the host wants running operations to end soon (FW-22).
    pub stopping: StopSignal,
    made: Option<Value>,
    deferral: Option<Deferral>,
    diagnostics: ProviderDiagnostics,
}

impl Call {
    pub(super) fn new(config: Value, private: PrivateData, identity: Option<Value>, stopping: StopSignal) -> Self {
        let diagnostics = ProviderDiagnostics::new();
        Self { config, private, identity, stopping, made: None, deferral: None, diagnostics }
    }

    /// Returns the configuration as a struct.
    ///
    /// # Errors
    ///
    /// Fails if the struct cannot hold it.
    pub fn config<M: Model>(&self) -> Result<M, ModelError> {
        M::of(&self.config)
    }

    /// Returns the identity as a struct; `None` if the object has none yet.
    ///
    /// # Errors
    ///
    /// Fails if the struct cannot hold it.
    pub fn identity<M: Model>(&self) -> Result<Option<M>, ModelError> {
        self.identity.as_ref().filter(|identity| !identity.is_null()).map(M::of).transpose()
    }

    /// Sets the identity of the object.
    pub fn identify<M: Model>(&mut self, identity: &M) {
        self.identity = Some(identity.to_value());
    }

    /// Adds a warning for the user.
    pub fn warn(&mut self, summary: impl Into<String>, detail: impl Into<String>) {
        self.diagnostics.push(ProviderDiagnostic::warning(summary, detail));
    }

    /// Records the object so far: if the call fails later, it is stored, so that an existing object is not forgotten
    /// (LC-16).
    pub fn made<M: Model>(&mut self, object: &M) {
        self.made = Some(object.to_value());
    }

    /// Defers a read or an import to a later run: return `Err(call.defer(reason, problem))`. A host with support for
    /// deferred changes receives the reason, any other the problem ([`Deferral`]).
    pub fn defer(&mut self, reason: Deferred, problem: impl Into<ProviderDiagnostic>) -> ProviderDiagnostic {
        Deferral::new(reason, problem).stored_in(&mut self.deferral)
    }

    /// Returns the response of a call that ended with an object, or without one.
    pub(super) fn ended<M: Model>(self, result: Result<Option<M>, ProviderDiagnostic>) -> ObjectResponse {
        let (state, problem, deferral) = match result {
            Ok(object) => (object.map(|object| object.to_value()), None, None),
            // A deferral carries the problem itself; reporting it twice would fail the call.
            Err(problem) => (self.made, self.deferral.is_none().then_some(problem), self.deferral),
        };
        let mut diagnostics = self.diagnostics;
        diagnostics.extend(problem);
        ObjectResponse { state, private: self.private, identity: self.identity, deferral, diagnostics }
    }

    /// Returns the diagnostics of a call that ended without an object.
    pub(super) fn over(self, result: Result<(), ProviderDiagnostic>) -> ProviderDiagnostics {
        let mut diagnostics = self.diagnostics;
        diagnostics.extend(result.err());
        diagnostics
    }
}
