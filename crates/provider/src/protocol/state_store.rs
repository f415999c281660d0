//! Requests and responses about state stores: providers that keep states for others.
//!
//! Released versions of Terraform do not use them, so neither does the engine; the calls are there for whoever speaks the protocol.

use std::sync::Arc;

use groma_value::Value;

use crate::{Name, ProviderDiagnostics};

/// How large the pieces are in which states travel, where nobody says: 8 MiB, in bytes.
pub const STATE_CHUNK_SIZE: u64 = 8 << 20;

/// The configuration of a state store, for use.
#[derive(Clone, Debug)]
pub struct ConfigureStateStoreRequest {
    /// The type of the store.
    pub type_name: Name,
    /// Its configuration, wholly known.
    pub config: Value,
    /// How large pieces of a state the caller would like to send and get, in bytes.
    pub chunk_size: u64,
}

/// What a state store says to its configuration.
#[derive(Clone, Debug)]
pub struct ConfigureStateStoreResponse {
    /// How large the pieces of a state are from now on, in bytes.
    pub chunk_size: u64,
    /// Problems.
    pub diagnostics: ProviderDiagnostics,
}

/// One state in a store, to be read or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateRequest {
    /// The type of the store.
    pub type_name: Name,
    /// What the store knows the state by.
    pub state_id: String,
}

/// The content of a state.
#[derive(Clone, Debug)]
pub struct ReadStateResponse {
    /// The bytes that were written last; none where there is no such state.
    pub bytes: Vec<u8>,
    /// Problems.
    pub diagnostics: ProviderDiagnostics,
}

/// New content of a state.
#[derive(Clone, Debug)]
pub struct WriteStateRequest {
    /// The type of the store.
    pub type_name: Name,
    /// What the store knows the state by.
    pub state_id: String,
    /// The content.
    pub bytes: Arc<[u8]>,
    /// How large its pieces are on the way, in bytes: what configuring the store came to.
    pub chunk_size: u64,
}

/// A lock that is wanted on a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockStateRequest {
    /// The type of the store.
    pub type_name: Name,
    /// What the store knows the state by.
    pub state_id: String,
    /// What the lock is for, for others to see.
    pub operation: String,
}

/// A lock that was taken.
#[derive(Clone, Debug)]
pub struct LockStateResponse {
    /// What it takes to give the lock back; empty where the store has no locks.
    pub lock_id: String,
    /// Problems: somebody else has the lock, for example.
    pub diagnostics: ProviderDiagnostics,
}

/// A lock that is given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlockStateRequest {
    /// The type of the store.
    pub type_name: Name,
    /// What the store knows the state by.
    pub state_id: String,
    /// What locking gave.
    pub lock_id: String,
}

/// The states of a store.
#[derive(Clone, Debug)]
pub struct StatesResponse {
    /// What the store knows them by.
    pub state_ids: Vec<String>,
    /// Problems.
    pub diagnostics: ProviderDiagnostics,
}
