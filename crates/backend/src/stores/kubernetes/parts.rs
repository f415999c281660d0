//! States in secrets: compressed, and split where one secret is too small.

use std::io::{Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value as Json;

use crate::error::StoreError;

/// The size of a part, as Terraform splits states.
const PART: usize = 1_048_576;

/// The largest state that is read: a small secret may unpack to anything.
const LARGEST: u64 = 4 << 30;

/// The content of one secret.
pub(super) fn content(secret: &Json, location: &str) -> Result<Vec<u8>, StoreError> {
    let encoded = secret["data"]["tfstate"].as_str().unwrap_or_default();
    STANDARD.decode(encoded).map_err(|_| damaged(location, "its data is not valid Base64"))
}

/// Whether another secret may follow this part.
pub(super) fn is_full(part: &[u8]) -> bool {
    part.len() >= PART
}

/// Decompresses the joined parts of a state.
pub(super) fn unpack(packed: &[u8], location: &str) -> Result<Vec<u8>, StoreError> {
    if packed.is_empty() {
        return Ok(Vec::new());
    }
    let mut bytes = Vec::new();
    let read = GzDecoder::new(packed).take(LARGEST).read_to_end(&mut bytes);
    read.map_err(|_| {
        damaged(
            location,
            "its parts do not belong together: they are not one compressed state. A run may have been killed between the writes of two \
             parts",
        )
    })?;
    Ok(bytes)
}

/// Packs a state into the contents of secrets, at least one.
pub(super) fn pack(bytes: &[u8]) -> Result<Vec<String>, StoreError> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    let packed = packed.map_err(|problem| StoreError::Service {
        service: "gzip".to_owned(),
        action: "compress the state".to_owned(),
        reason: groma_diagnostics::io_reason(&problem),
    })?;
    Ok(packed.chunks(PART).map(|part| STANDARD.encode(part)).collect())
}

fn damaged(location: &str, reason: &str) -> StoreError {
    StoreError::InvalidData {
        location: location.to_owned(),
        reason: reason.to_owned(),
        advice: "Restore the secrets from a backup of the cluster, or push a copy of the state with state push -force."
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn large_states_are_split_and_joined() {
        let mut seed = 1_u32;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        })
        .take(2_500_000)
        .collect();
        let parts = pack(&noise).unwrap();
        assert_eq!(parts.len(), 3);
        let contents: Vec<Vec<u8>> =
            parts.iter().map(|part| content(&json!({ "data": { "tfstate": part } }), "x").unwrap()).collect();
        assert_eq!(contents.iter().map(|part| is_full(part)).collect::<Vec<_>>(), [true, true, false]);
        assert_eq!(unpack(&contents.concat(), "x").unwrap(), noise);
        assert!(matches!(unpack(&contents[0], "x"), Err(StoreError::InvalidData { .. })));
        assert_eq!(unpack(&[], "x").unwrap(), b"");
        assert_eq!(pack(b"").unwrap().len(), 1);
    }
}
