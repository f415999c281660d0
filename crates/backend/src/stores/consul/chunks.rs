//! The stored form of a state: JSON, compressed JSON, or a list of chunks.

use std::io::{Read, Write};

use flate2::Compression as Level;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use md5::{Digest, Md5};
use serde::Deserialize;

use crate::error::StoreError;

/// The largest value that Consul accepts with its default settings.
const CHUNK: usize = 524_288;

/// The first byte of compressed values.
const GZIP: u8 = 0x1f;

/// Whether values are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Gzip,
}

/// The value of a state's key.
pub(super) enum Stored {
    /// The state, which may be compressed.
    Whole(Vec<u8>),
    /// The keys of the parts of the state, and the MD5 of its JSON.
    Chunked { hash: String, chunks: Vec<String> },
}

#[derive(Deserialize)]
struct ChunkList {
    #[serde(rename = "current-hash")]
    hash: String,
    chunks: Vec<String>,
}

impl Stored {
    pub fn parse(value: Vec<u8>) -> Self {
        match serde_json::from_slice::<ChunkList>(&value) {
            Ok(ChunkList { hash, chunks }) => Self::Chunked { hash, chunks },
            Err(_) => Self::Whole(value),
        }
    }

    /// Returns the hash that names the chunks.
    pub fn hash(&self) -> Option<&str> {
        match self {
            Self::Whole(_) => None,
            Self::Chunked { hash, .. } => Some(hash),
        }
    }

    /// Decompresses the payload and compares it with the hash.
    pub fn unpack(&self, payload: Vec<u8>, location: &str) -> Result<Vec<u8>, StoreError> {
        let bytes = decompressed(payload)
            .map_err(|reason| damaged(location, &format!("it cannot be decompressed: {reason}")))?;
        match self.hash() {
            Some(hash) if *hash != md5_hex(&bytes) => {
                Err(damaged(location, "The remote state does not match the expected hash"))
            }
            _ => Ok(bytes),
        }
    }
}

fn decompressed(payload: Vec<u8>) -> Result<Vec<u8>, String> {
    if payload.first() != Some(&GZIP) {
        return Ok(payload);
    }
    let mut bytes = Vec::new();
    GzDecoder::new(&*payload).read_to_end(&mut bytes).map_err(|problem| groma_diagnostics::io_reason(&problem))?;
    Ok(bytes)
}

fn damaged(location: &str, reason: &str) -> StoreError {
    StoreError::InvalidData {
        location: location.to_owned(),
        reason: reason.to_owned(),
        advice: "Restore the key from a backup of Consul, or replace the state with state push -force.".to_owned(),
    }
}

/// Returns the error about a list whose chunks do not exist.
pub(super) fn missing(location: &str) -> StoreError {
    damaged(location, "a chunk of the state is missing")
}

/// Returns the prefix of the keys of the chunks with this hash.
pub(super) fn folder(key: &str, hash: &str) -> String {
    format!("{}/tfstate.{hash}/", key.trim_end_matches('/'))
}

/// A state to store.
pub(super) struct Payload {
    /// The JSON, or its compressed form.
    pub bytes: Vec<u8>,
    /// The MD5 of the JSON.
    pub hash: String,
}

impl Payload {
    pub fn new(json: &[u8], compression: Compression) -> Self {
        let hash = md5_hex(json);
        let bytes = match compression {
            Compression::None => json.to_vec(),
            Compression::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Level::default());
                // Writing to memory cannot fail; if it did, the plain form would be as good.
                match encoder.write_all(json).and_then(|()| encoder.finish()) {
                    Ok(compressed) => compressed,
                    Err(_) => json.to_vec(),
                }
            }
        };
        Self { bytes, hash }
    }

    pub fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks(CHUNK)
    }
}

fn md5_hex(bytes: &[u8]) -> String {
    Md5::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_payload_is_unpacked_and_checked() {
        let payload = Payload::new(b"{\"version\":4}", Compression::Gzip);
        assert_eq!(payload.bytes[0], GZIP);
        let list = format!("{{\"chunks\":[\"p/tfstate.{0}/0\"],\"current-hash\":\"{0}\"}}", payload.hash);
        let stored = Stored::parse(list.into_bytes());
        assert_eq!(stored.unpack(payload.bytes.clone(), "x").unwrap(), b"{\"version\":4}");
        assert!(matches!(stored.unpack(b"{}".to_vec(), "x"), Err(StoreError::InvalidData { .. })));
        assert!(matches!(stored.unpack(payload.bytes[..9].to_vec(), "x"), Err(StoreError::InvalidData { .. })));
        assert_eq!(folder("p/", "h"), "p/tfstate.h/");
    }

    #[test]
    fn state_is_not_mistaken_for_a_list_of_chunks() {
        let stored = Stored::parse(b"{\"version\":4,\"serial\":1}".to_vec());
        assert!(stored.hash().is_none());
    }
}
