//! Client side of state store calls, which only protocol version 6 has.

use std::sync::Arc;

use groma_provider::{
    ConfigureStateStoreRequest, ConfigureStateStoreResponse, LockStateRequest, LockStateResponse, Name,
    ProviderDiagnostic, ProviderDiagnostics, ReadStateResponse, StateRequest, StatesResponse, UnlockStateRequest,
    ValidateRequest, WriteStateRequest,
};

use super::schemas::Kind;
use super::session::{Session, StreamControl};
use crate::proto::v6;
use crate::{MESSAGE_LIMIT, protocol, wire};

type Outcome<T> = Result<T, ProviderDiagnostics>;

pub(super) async fn validate(session: Arc<Session>, request: ValidateRequest) -> Outcome<ProviderDiagnostics> {
    let schema = session.schema(Kind::StateStore, &request.type_name)?;
    let message = v6::validate_state_store_config::Request {
        config: session.encode(&request.config, schema.block.implied_type())?,
        type_name: request.type_name.to_string(),
    };
    Ok(wire::diagnostics(session.call(protocol::VALIDATE_STORE, message).await?.diagnostics))
}

pub(super) async fn configure(
    session: Arc<Session>,
    request: ConfigureStateStoreRequest,
) -> Outcome<ConfigureStateStoreResponse> {
    let schema = session.schema(Kind::StateStore, &request.type_name)?;
    // The provider answers with the size that both sides then use.
    let proposed = i64::try_from(request.chunk_size).unwrap_or(i64::MAX);
    let message = v6::configure_state_store::Request {
        config: session.encode(&request.config, schema.block.implied_type())?,
        type_name: request.type_name.to_string(),
        capabilities: Some(v6::StateStoreClientCapabilities { chunk_size: proposed }),
    };
    let response = session.call(protocol::CONFIGURE_STORE, message).await?;
    let mut diagnostics = wire::diagnostics(response.diagnostics);
    let answered = response.capabilities.map_or(0, |capabilities| capabilities.chunk_size);
    // Zero means that the provider accepts the proposed size.
    let chunk_size = if answered == 0 { request.chunk_size } else { u64::try_from(answered).unwrap_or_default() };
    // A chunk must fit into a gRPC message; the provider's own error would be more specific.
    if (chunk_size == 0 || chunk_size > MESSAGE_LIMIT as u64) && !diagnostics.has_errors() {
        let detail = format!(
            "The provider requested state chunks of {answered} bytes; the size must be between 1 and {MESSAGE_LIMIT}. This \
             is a bug in the provider. Please report it in the provider's issue tracker."
        );
        diagnostics.push(ProviderDiagnostic::error("Failed to negotiate acceptable chunk size", detail));
    }
    Ok(ConfigureStateStoreResponse { chunk_size, diagnostics })
}

pub(super) async fn read(session: Arc<Session>, request: StateRequest) -> Outcome<ReadStateResponse> {
    let message =
        v6::read_state_bytes::Request { type_name: request.type_name.to_string(), state_id: request.state_id };
    let mut bytes = Vec::new();
    let mut expected = None;
    let mut diagnostics = ProviderDiagnostics::new();
    let take = |chunk: v6::read_state_bytes::ResponseChunk| {
        diagnostics.extend(wire::diagnostics(chunk.diagnostics));
        // The first chunk counts: a provider that changes the length later is caught by the comparison below.
        expected.get_or_insert(chunk.total_length);
        bytes.extend_from_slice(&chunk.bytes);
        if diagnostics.has_errors() { StreamControl::Stop } else { StreamControl::Continue }
    };
    session.stream(protocol::READ_STATE, message, take).await?;
    let expected = expected.unwrap_or_default();
    if !diagnostics.has_errors() && u64::try_from(expected) != Ok(bytes.len() as u64) {
        // A truncated state must never be mistaken for a complete one.
        let detail = format!(
            "The provider announced a state of {expected} bytes but sent {}. The incomplete state was discarded. This is a \
             bug in the provider. Please report it in the provider's issue tracker.",
            bytes.len()
        );
        diagnostics.push(ProviderDiagnostic::error("Error reading state", detail));
        bytes.clear();
    }
    Ok(ReadStateResponse { bytes, diagnostics })
}

pub(super) async fn write(session: Arc<Session>, request: WriteStateRequest) -> Outcome<ProviderDiagnostics> {
    let response = session.upload(protocol::WRITE_STATE, chunks(&request)).await?;
    Ok(wire::diagnostics(response.diagnostics))
}

/// Splits the state into chunks of the negotiated size; an empty state is one empty chunk.
fn chunks(request: &WriteStateRequest) -> Vec<v6::write_state_bytes::RequestChunk> {
    // At least one byte, or the loop below would not end; at most what a gRPC message can hold.
    let size = usize::try_from(request.chunk_size).unwrap_or(usize::MAX).clamp(1, MESSAGE_LIMIT);
    let total_length = wire_length(request.bytes.len());
    let mut pieces: Vec<&[u8]> = request.bytes.chunks(size).collect();
    if pieces.is_empty() {
        // Without any chunk the store could not tell which state to write.
        pieces.push(&[]);
    }
    let mut start = 0;
    let mut messages = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let length = wire_length(piece.len());
        // Only the first chunk names the state.
        let meta = (start == 0).then(|| v6::RequestChunkMeta {
            type_name: request.type_name.to_string(),
            state_id: request.state_id.clone(),
        });
        // Ranges are inclusive.
        let range = v6::StateByteRange { start, end: (start + length - 1).max(start) };
        messages.push(v6::write_state_bytes::RequestChunk {
            meta,
            bytes: prost::bytes::Bytes::copy_from_slice(piece),
            total_length,
            range: Some(range),
        });
        start += length;
    }
    messages
}

fn wire_length(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

pub(super) async fn lock(session: Arc<Session>, request: LockStateRequest) -> Outcome<LockStateResponse> {
    let message = v6::lock_state::Request {
        type_name: request.type_name.to_string(),
        state_id: request.state_id,
        operation: request.operation,
    };
    let response = session.call(protocol::LOCK_STATE, message).await?;
    Ok(LockStateResponse { lock_id: response.lock_id, diagnostics: wire::diagnostics(response.diagnostics) })
}

pub(super) async fn unlock(session: Arc<Session>, request: UnlockStateRequest) -> Outcome<ProviderDiagnostics> {
    let message = v6::unlock_state::Request {
        type_name: request.type_name.to_string(),
        state_id: request.state_id,
        lock_id: request.lock_id,
    };
    Ok(wire::diagnostics(session.call(protocol::UNLOCK_STATE, message).await?.diagnostics))
}

pub(super) async fn states(session: Arc<Session>, type_name: Name) -> Outcome<StatesResponse> {
    let message = v6::get_states::Request { type_name: type_name.to_string() };
    let response = session.call(protocol::STATES, message).await?;
    Ok(StatesResponse { state_ids: response.state_ids, diagnostics: wire::diagnostics(response.diagnostics) })
}

pub(super) async fn delete(session: Arc<Session>, request: StateRequest) -> Outcome<ProviderDiagnostics> {
    let message = v6::delete_state::Request { type_name: request.type_name.to_string(), state_id: request.state_id };
    Ok(wire::diagnostics(session.call(protocol::DELETE_STATE, message).await?.diagnostics))
}
