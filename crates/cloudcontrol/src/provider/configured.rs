//! Which arguments the author configured, kept with the object so that a removed one is noticed (CC-35), and the token of
//! the request that a plan is for.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_value::{Kind, Value};
use serde::{Deserialize, Serialize};

use super::fields::{Fields, Shape};

/// The configured arguments of an object, and those of the single objects in it. Elements of lists, sets and maps come
/// and go with the whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Configured(BTreeMap<String, Configured>);

impl Configured {
    /// What a configuration configures.
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

    /// What was configured of an attribute, if it was.
    pub fn get(&self, attribute: &str) -> Option<&Self> {
        self.0.get(attribute)
    }
}

/// What the provider keeps with an object, and with a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Private {
    /// The client token of the request the plan is for (CC-40).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// What the author configured; nothing is known of objects that others made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configured: Option<Configured>,
}

impl Private {
    /// Reads what was kept; anything else counts as nothing.
    pub fn read(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or_default()
    }

    /// The bytes to keep.
    pub fn bytes(&self) -> Arc<[u8]> {
        serde_json::to_vec(self).unwrap_or_default().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_bytes_of_others_are_ignored() {
        assert_eq!(Private::read(b""), Private::default());
        assert_eq!(Private::read(b"\x01\x02"), Private::default());
        let private = Private { token: Some("t".into()), configured: Some(Configured::default()) };
        assert_eq!(Private::read(&private.bytes()), private);
    }
}
