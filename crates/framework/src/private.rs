//! The private data of a provider for an object, which users never see.

use std::collections::BTreeMap;
use std::fmt;

use groma_provider::Private;

/// Named strings that are kept with an object between calls: in the plan, in the state, and in the journal of an
/// interrupted apply. Idempotency tokens belong here.
///
/// [`fmt::Debug`] hides the values, which may be secrets.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PrivateData {
    entries: BTreeMap<String, String>,
    /// The private data of code other than this framework, preserved until an entry is set here.
    foreign: Option<Private>,
}

impl PrivateData {
    /// Creates empty private data.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes the output of [`PrivateData::encode`]. Other bytes count as empty, and are kept until an entry is set.
    pub fn decode(bytes: &Private) -> Self {
        if bytes.is_empty() {
            return Self::default();
        }
        match serde_json::from_slice(bytes) {
            Ok(entries) => Self { entries, foreign: None },
            // Another implementation of the provider may have written the object, with a format of its own.
            Err(_) => Self { entries: BTreeMap::new(), foreign: Some(bytes.clone()) },
        }
    }

    /// Encodes the entries as a JSON object; empty if there is no entry.
    pub fn encode(&self) -> Private {
        // Nothing at all rather than "{}", so that a provider without private data stores none.
        if self.entries.is_empty() {
            return self.foreign.clone().unwrap_or_default();
        }
        // A map of texts has no value that JSON cannot hold.
        serde_json::to_vec(&self.entries).unwrap_or_default().into()
    }

    /// Returns the entry `name`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.entries.get(name).map(String::as_str)
    }

    /// Sets the entry `name` to `value`.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.entries.insert(name.into(), value.into());
    }

    /// Removes the entry `name`.
    pub fn remove(&mut self, name: &str) -> Option<String> {
        self.entries.remove(name)
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl fmt::Debug for PrivateData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Keys only: values may be secrets.
        f.debug_set().entries(self.entries.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_round_trip_and_empty_data_has_no_bytes() {
        assert!(PrivateData::new().encode().is_empty());
        let mut private = PrivateData::new();
        private.set("token", "secret");
        let again = PrivateData::decode(&private.encode());
        assert_eq!(again.get("token"), Some("secret"));
        assert!(!format!("{again:?}").contains("secret"));
    }

    #[test]
    fn foreign_bytes_are_kept_until_an_entry_is_set() {
        let bytes: Private = Private::from(&b"\x01other"[..]);
        let mut private = PrivateData::decode(&bytes);
        assert!(private.is_empty());
        assert_eq!(private.encode(), bytes);
        private.set("a", "b");
        assert_eq!(&*private.encode(), br#"{"a":"b"}"#);
    }
}
