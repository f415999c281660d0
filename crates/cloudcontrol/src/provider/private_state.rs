//! The private data of objects: the arguments that the author configured, so that a removed one is noticed (CC-35), and the token
//! of the request that a plan is for.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use groma_framework::PrivateData;
use groma_value::{Kind, Value};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::fields::{Fields, Shape};

/// The configured arguments of an object, and those of the single objects in it. Elements of lists, sets and maps come
/// and go with the whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Configured(BTreeMap<String, Configured>);

impl Configured {
    /// Returns the configured arguments of a configuration.
    pub fn of(fields: &Fields, config: &Value) -> Self {
        let Some(view) = config.as_object() else { return Self::default() };
        let given = fields.list.iter().zip(view.values()).filter(|(_, value)| !value.is_null());
        Self(
            given
                .map(|(field, value)| {
                    let below = match (&field.shape, value.kind()) {
                        (Shape::Object(inner), Kind::Object(_)) => Self::of(inner, value),
                        _ => Self::default(),
                    };
                    (field.attribute.to_string(), below)
                })
                .collect(),
        )
    }

    /// Returns the configured arguments of an attribute, if it was configured.
    pub fn get(&self, attribute: &str) -> Option<&Self> {
        self.0.get(attribute)
    }
}

/// The private data of the provider for an object or a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrivateState {
    /// The client token of the request the plan is for (CC-40).
    pub token: Option<String>,
    /// The configured arguments; unknown for objects that others created.
    pub configured: Option<Configured>,
    /// The top-level attributes that were set and that the service did not return right after: their absence from a read is
    /// no drift.
    pub unreturned: Vec<String>,
    /// The import of the object; none if this provider has created it, and for states of others.
    pub import: Option<Import>,
}

/// What is known of the configuration of an imported object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Import {
    /// The object is a stub with the configured values, which no read has confirmed.
    Stub,
    /// The host has sent no configuration. The next plan takes values over that the service does not return.
    Unconfigured,
    /// The configured arguments are recorded.
    Configured,
}

impl Import {
    const ALL: [Self; 3] = [Self::Stub, Self::Unconfigured, Self::Configured];

    fn name(self) -> &'static str {
        match self {
            Self::Stub => "stub",
            Self::Unconfigured => "unconfigured",
            Self::Configured => "configured",
        }
    }
}

const TOKEN: &str = "token";
const CONFIGURED: &str = "configured";
const UNRETURNED: &str = "unreturned";
const IMPORT: &str = "import";

impl PrivateState {
    /// Decodes the private data; invalid data counts as none.
    pub fn decode(private: &PrivateData) -> Self {
        Self {
            token: private.get(TOKEN).map(str::to_owned),
            configured: private.get(CONFIGURED).and_then(|text| serde_json::from_str(text).ok()),
            unreturned: private.get(UNRETURNED).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default(),
            import: private.get(IMPORT).and_then(|name| Import::ALL.into_iter().find(|import| import.name() == name)),
        }
    }

    /// Encodes the private data.
    pub fn encode(&self) -> PrivateData {
        let mut private = PrivateData::new();
        if let Some(token) = &self.token {
            private.set(TOKEN, token);
        }
        if let Some(text) = self.configured.as_ref().and_then(|configured| serde_json::to_string(configured).ok()) {
            private.set(CONFIGURED, text);
        }
        if !self.unreturned.is_empty()
            && let Ok(text) = serde_json::to_string(&self.unreturned)
        {
            private.set(UNRETURNED, text);
        }
        if let Some(import) = self.import {
            private.set(IMPORT, import.name());
        }
        private
    }
}

/// Returns a unique client token from the system's randomness, the clock and a counter.
pub fn new_client_token() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let mut hash = Sha256::new();
    for _ in 0..2 {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u64(count);
        hash.update(hasher.finish().to_le_bytes());
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    hash.update(now.as_nanos().to_le_bytes());
    hash.update(std::process::id().to_le_bytes());
    hash.update(count.to_le_bytes());
    let digits: String = hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("groma-{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ() {
        let tokens: std::collections::HashSet<String> = (0..1_000).map(|_| new_client_token()).collect();
        assert_eq!(tokens.len(), 1_000);
    }

    #[test]
    fn private_bytes_of_others_are_ignored() {
        let read = |bytes: &[u8]| PrivateState::decode(&PrivateData::decode(&bytes.into()));
        assert_eq!(read(b""), PrivateState::default());
        assert_eq!(read(b"\x01\x02"), PrivateState::default());
        let unreturned = vec!["a".to_owned()];
        for import in Import::ALL {
            let (configured, unreturned) = (Some(Configured::default()), unreturned.clone());
            let state = PrivateState { token: Some("t".into()), configured, unreturned, import: Some(import) };
            assert_eq!(read(&state.encode().encode()), state);
        }
    }
}
