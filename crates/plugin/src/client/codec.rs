//! How messages are written and read: as usual, but without memory for large ones where most are small.

use std::marker::PhantomData;

use prost::Message;
use tonic::codec::{BufferSettings, Codec};
use tonic_prost::{ProstDecoder, ProstEncoder};

/// Bytes that are there for a message at once: an object with a few attributes. More come when they are needed.
const USUAL: usize = 1 << 10;
/// Messages of a stream are sent together up to so many bytes.
const TOGETHER: usize = 32 << 10;

/// Messages of requests and responses.
pub(super) struct Compact<Q, R>(PhantomData<fn(Q) -> R>);

impl<Q, R> Default for Compact<Q, R> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<Q: Message + 'static, R: Message + Default + 'static> Codec for Compact<Q, R> {
    type Encode = Q;
    type Decode = R;
    type Encoder = ProstEncoder<Q>;
    type Decoder = ProstDecoder<R>;

    fn encoder(&mut self) -> Self::Encoder {
        ProstEncoder::new(BufferSettings::new(USUAL, TOGETHER))
    }

    fn decoder(&mut self) -> Self::Decoder {
        ProstDecoder::new(BufferSettings::new(USUAL, TOGETHER))
    }
}
