//! The author's side of state stores, which keep the states of configurations.

use groma_provider::{
    Answer, ConfigureStateStoreRequest, ConfigureStateStoreResponse, LockStateRequest, LockStateResponse,
    ProviderDiagnostics, ReadStateResponse, StateRequest, StatesResponse, UnlockStateRequest, WriteStateRequest,
};
use groma_value::Value;

use crate::ResourceSchema;

/// A type of state store. States come and go as a whole; the framework takes them to pieces of the size that configuring the store came
/// to, and puts them together again: what does not arrive whole is not written.
///
/// Version 6 of the protocol alone has state stores.
pub trait StateStore: Send + Sync {
    /// The schema of its configuration.
    fn schema(&self) -> &ResourceSchema;

    /// Checks a configuration as a whole, after the validators of the attributes.
    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        let _ = config;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Takes a configuration into use, which everything further is about.
    fn configure(&self, request: ConfigureStateStoreRequest) -> Answer<'_, ConfigureStateStoreResponse>;

    /// Returns the last written state; empty if it does not exist.
    fn read(&self, request: StateRequest) -> Answer<'_, ReadStateResponse>;

    /// Writes a new state. Until it is stored completely, reads return the previous one.
    fn write(&self, request: WriteStateRequest) -> Answer<'_, ProviderDiagnostics>;

    /// Returns the identifiers of stored states.
    fn states(&self) -> Answer<'_, StatesResponse>;

    /// Deletes a state.
    fn delete(&self, request: StateRequest) -> Answer<'_, ProviderDiagnostics>;

    /// Takes the lock on a state, or says who has it. A store without locks gives an empty id, and is not asked to unlock.
    fn lock(&self, request: LockStateRequest) -> Answer<'_, LockStateResponse> {
        let _ = request;
        Answer::ready(LockStateResponse { lock_id: String::new(), diagnostics: ProviderDiagnostics::new() })
    }

    /// Releases the lock on a state, if it is still the given one.
    fn unlock(&self, request: UnlockStateRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }
}
