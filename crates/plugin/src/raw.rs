//! A gRPC codec that leaves messages encoded, so that all methods share one monomorphized call path instead of
//! generating code for each pair of messages.

use prost::Message;
use prost::bytes::{Buf, BufMut, Bytes};
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// The initial buffer size in bytes, enough for an object with a few attributes.
const INITIAL_CAPACITY: usize = 1 << 10;
/// The number of bytes up to which messages of a stream are sent together.
const YIELD_THRESHOLD: usize = 32 << 10;

/// Encodes a message for [`Raw`].
pub(crate) fn encoded(message: &impl Message) -> Bytes {
    message.encode_to_vec().into()
}

/// Decodes a message that [`Raw`] received.
pub(crate) fn decoded<M: Message + Default>(bytes: Bytes) -> Result<M, Status> {
    // The status tonic's own codec returns for an undecodable message.
    M::decode(bytes).map_err(|error| Status::internal(error.to_string()))
}

/// The codec for encoded messages.
#[derive(Clone, Copy, Debug)]
pub struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(message);
        Ok(())
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(INITIAL_CAPACITY, YIELD_THRESHOLD)
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        // No copy: the buffer hands out a reference-counted slice.
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(INITIAL_CAPACITY, YIELD_THRESHOLD)
    }
}
