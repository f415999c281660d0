//! Requests and responses for state stores: providers that store states.
//!
//! Released versions of Terraform do not use state stores, and neither does the engine. The calls exist for other users
//! of the protocol.

use std::sync::Arc;

use groma_value::Value;

use crate::{Name, ProviderDiagnostics};

/// The default size of the chunks in which states are transferred, in bytes (8 MiB).
pub const STATE_CHUNK_SIZE: u64 = 8 << 20;

/// A request to configure a state store.
#[derive(Clone, Debug)]
pub struct ConfigureStateStoreRequest {
    /// The type of the state store.
    pub type_name: Name,
    /// The wholly known configuration.
    pub config: Value,
    /// The chunk size that the caller proposes, in bytes.
    pub chunk_size: u64,
}

/// The response to the configuration of a state store.
#[derive(Clone, Debug)]
pub struct ConfigureStateStoreResponse {
    /// The negotiated chunk size, in bytes.
    pub chunk_size: u64,
    /// The errors and warnings of the call.
    pub diagnostics: ProviderDiagnostics,
}

/// A request to read or delete a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateRequest {
    /// The type of the state store.
    pub type_name: Name,
    /// The store's identifier of the state, usually a workspace name.
    pub state_id: String,
}

/// The response to the read of a state.
#[derive(Clone, Debug)]
pub struct ReadStateResponse {
    /// The content; empty if the state does not exist.
    pub bytes: Vec<u8>,
    /// The errors and warnings of the call.
    pub diagnostics: ProviderDiagnostics,
}

/// A request to write a state.
#[derive(Clone, Debug)]
pub struct WriteStateRequest {
    /// The type of the state store.
    pub type_name: Name,
    /// The store's identifier of the state, usually a workspace name.
    pub state_id: String,
    /// The complete new content.
    pub bytes: Arc<[u8]>,
    /// The negotiated chunk size for the transfer, in bytes.
    pub chunk_size: u64,
}

/// A request to lock a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockStateRequest {
    /// The type of the state store.
    pub type_name: Name,
    /// The store's identifier of the state, usually a workspace name.
    pub state_id: String,
    /// The purpose of the lock, shown to others who find the state locked.
    pub operation: String,
}

/// The response to a lock request.
#[derive(Clone, Debug)]
pub struct LockStateResponse {
    /// The ID that unlocking requires; empty if the store does not support locks.
    pub lock_id: String,
    /// The errors and warnings of the call, for example that another run holds the lock.
    pub diagnostics: ProviderDiagnostics,
}

/// A request to unlock a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlockStateRequest {
    /// The type of the state store.
    pub type_name: Name,
    /// The store's identifier of the state, usually a workspace name.
    pub state_id: String,
    /// The ID from [`LockStateResponse`].
    pub lock_id: String,
}

/// The response to a request for the states of a store.
#[derive(Clone, Debug)]
pub struct StatesResponse {
    /// The store's identifiers of its states.
    pub state_ids: Vec<String>,
    /// The errors and warnings of the call.
    pub diagnostics: ProviderDiagnostics,
}
