//! The arguments that the author configured, stored with the object so that a removed one is noticed (CC-35), and the token of
//! the request that a plan is for.

use std::collections::BTreeMap;

use groma_framework::PrivateData;
use groma_value::{Kind, Value};
use serde::{Deserialize, Serialize};

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
}

const TOKEN: &str = "token";
const CONFIGURED: &str = "configured";
const UNRETURNED: &str = "unreturned";

impl PrivateState {
    /// Decodes the private data; invalid data counts as none.
    pub fn decode(private: &PrivateData) -> Self {
        Self {
            token: private.get(TOKEN).map(str::to_owned),
            configured: private.get(CONFIGURED).and_then(|text| serde_json::from_str(text).ok()),
            unreturned: private.get(UNRETURNED).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default(),
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
        private
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_bytes_of_others_are_ignored() {
        let read = |bytes: &[u8]| PrivateState::decode(&PrivateData::decode(&bytes.into()));
        assert_eq!(read(b""), PrivateState::default());
        assert_eq!(read(b"\x01\x02"), PrivateState::default());
        let unreturned = vec!["a".to_owned()];
        let state = PrivateState { token: Some("t".into()), configured: Some(Configured::default()), unreturned };
        assert_eq!(read(&state.encode().encode()), state);
    }
}
