//! Server side of state store calls, which only protocol version 6 has.

use std::sync::{Arc, PoisonError};

use futures_util::{Stream, StreamExt};
use groma_provider::{
    ConfigureStateStoreRequest, LockStateRequest, ProviderDiagnostic, ProviderDiagnostics, ReadStateResponse,
    STATE_CHUNK_SIZE, StateRequest, UnlockStateRequest, WriteStateRequest,
};
use tonic::Status;
use tonic::codegen::BoxStream;

use super::adapter::{Adapter, StepResult, decode_request, validation};
use super::streams::streamed;
use crate::proto::v6::{self, configure_state_store, read_state_bytes, write_state_bytes};
use crate::{MESSAGE_LIMIT, wire};

impl Adapter {
    pub async fn validate_store(
        &self,
        message: v6::validate_state_store_config::Request,
    ) -> StepResult<ProviderDiagnostics> {
        let schema = self.state_store(&message.type_name)?;
        let request = validation(message.type_name, message.config.as_ref(), &schema)?;
        Ok(self.provider().validate_state_store(request).await)
    }

    pub async fn configure_store(
        &self,
        message: configure_state_store::Request,
    ) -> StepResult<configure_state_store::Response> {
        let schema = self.state_store(&message.type_name)?;
        let requested = message.capabilities.map_or(0, |capabilities| capabilities.chunk_size);
        let request = ConfigureStateStoreRequest {
            config: decode_request(message.config.as_ref(), schema.block.implied_type(), "the configuration")?,
            type_name: message.type_name.as_str().into(),
            // Hosts that send no size leave the choice to the provider.
            chunk_size: u64::try_from(requested).ok().filter(|size| *size > 0).unwrap_or(STATE_CHUNK_SIZE),
        };
        let response = self.provider().configure_state_store(request).await;
        let mut sizes = self.chunk_sizes().lock().unwrap_or_else(PoisonError::into_inner);
        // Reads and writes carry no size of their own, so it is kept until the store is configured again.
        sizes.insert(message.type_name, response.chunk_size);
        Ok(configure_state_store::Response {
            diagnostics: wire::diagnostics_message(&response.diagnostics),
            capabilities: Some(v6::StateStoreServerCapabilities {
                chunk_size: i64::try_from(response.chunk_size).unwrap_or(i64::MAX),
            }),
        })
    }

    /// Streams a state in chunks of the negotiated size.
    pub fn read_state(
        self: &Arc<Self>,
        message: read_state_bytes::Request,
    ) -> BoxStream<read_state_bytes::ResponseChunk> {
        let adapter = Arc::clone(self);
        streamed(move |sender| async move {
            let size = adapter.chunk_size(&message.type_name);
            let request = StateRequest { type_name: message.type_name.into(), state_id: message.state_id };
            let response = adapter.provider().read_state(request).await;
            for chunk in chunks(&response, size) {
                // The host has abandoned the call.
                if sender.send(Ok(chunk)).is_err() {
                    break;
                }
            }
        })
    }

    fn chunk_size(&self, type_name: &str) -> usize {
        let sizes = self.chunk_sizes().lock().unwrap_or_else(PoisonError::into_inner);
        let size = sizes.get(type_name).copied().unwrap_or(STATE_CHUNK_SIZE);
        usize::try_from(size).unwrap_or(usize::MAX).clamp(1, MESSAGE_LIMIT)
    }

    /// Writes a state that arrives in chunks; an incomplete state is rejected.
    pub async fn write_state(
        &self,
        mut chunks: impl Stream<Item = Result<write_state_bytes::RequestChunk, Status>> + Unpin,
    ) -> Result<StepResult<ProviderDiagnostics>, Status> {
        let mut bytes = Vec::new();
        let mut about = None;
        let mut expected = 0;
        while let Some(chunk) = chunks.next().await.transpose()? {
            // Only the first chunk carries the metadata and the total length.
            if let (None, Some(meta)) = (&about, chunk.meta) {
                expected = chunk.total_length;
                about = Some(meta);
            }
            bytes.extend_from_slice(&chunk.bytes);
        }
        let Some(meta) = about else {
            return Ok(Err(incomplete("the first chunk does not identify the state".to_owned())));
        };
        // A connection that broke in the middle must not replace the state with its first part.
        if u64::try_from(expected) != Ok(bytes.len() as u64) {
            return Ok(Err(incomplete(format!("{expected} bytes were announced, but {} arrived", bytes.len()))));
        }
        let chunk_size = self.chunk_size(&meta.type_name) as u64;
        let request = WriteStateRequest {
            type_name: meta.type_name.into(),
            state_id: meta.state_id,
            bytes: bytes.into(),
            chunk_size,
        };
        Ok(Ok(self.provider().write_state(request).await))
    }

    pub async fn lock_state(&self, message: v6::lock_state::Request) -> v6::lock_state::Response {
        let request = LockStateRequest {
            type_name: message.type_name.into(),
            state_id: message.state_id,
            operation: message.operation,
        };
        let response = self.provider().lock_state(request).await;
        v6::lock_state::Response {
            lock_id: response.lock_id,
            diagnostics: wire::diagnostics_message(&response.diagnostics),
        }
    }

    pub async fn unlock_state(&self, message: v6::unlock_state::Request) -> ProviderDiagnostics {
        let request = UnlockStateRequest {
            type_name: message.type_name.into(),
            state_id: message.state_id,
            lock_id: message.lock_id,
        };
        self.provider().unlock_state(request).await
    }

    pub async fn states(&self, message: v6::get_states::Request) -> v6::get_states::Response {
        let response = self.provider().states(message.type_name.into()).await;
        v6::get_states::Response {
            state_ids: response.state_ids,
            diagnostics: wire::diagnostics_message(&response.diagnostics),
        }
    }

    pub async fn delete_state(&self, message: v6::delete_state::Request) -> ProviderDiagnostics {
        let request = StateRequest { type_name: message.type_name.into(), state_id: message.state_id };
        self.provider().delete_state(request).await
    }
}

/// Splits a response into chunks; the first one carries the diagnostics.
fn chunks(response: &ReadStateResponse, size: usize) -> Vec<read_state_bytes::ResponseChunk> {
    let length = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
    let total_length = length(response.bytes.len());
    let mut start = 0;
    let mut chunks = Vec::new();
    for piece in response.bytes.chunks(size) {
        let end = start + length(piece.len());
        // Ranges are inclusive.
        let range = Some(v6::StateByteRange { start, end: end - 1 });
        let diagnostics = Vec::new();
        chunks.push(read_state_bytes::ResponseChunk {
            bytes: prost::bytes::Bytes::copy_from_slice(piece),
            total_length,
            range,
            diagnostics,
        });
        start = end;
    }
    // Errors need a chunk to travel in; a state that does not exist needs none.
    if chunks.is_empty() && !response.diagnostics.is_empty() {
        chunks.push(read_state_bytes::ResponseChunk::default());
    }
    if let Some(first) = chunks.first_mut() {
        first.diagnostics = wire::diagnostics_message(&response.diagnostics);
    }
    chunks
}

fn incomplete(why: String) -> ProviderDiagnostics {
    ProviderDiagnostic::error("Error writing state", format!("The state is incomplete: {why}. It was not written."))
        .into()
}
