//! The record of one object that a provider manages.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use groma_address::{Name, ProviderConfig};
use groma_value::{Path, StoredError, Type, Value};
use sha2::{Digest, Sha256};

use crate::dependencies::Dependencies;
use crate::json;
use crate::random::random_bits;

/// Whether an object is as it should be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ObjectStatus {
    /// Created completely.
    #[default]
    Ready,
    /// Tainted: to be replaced, because its creation failed halfway or a user marked it.
    Tainted,
}

/// An object's attributes as JSON text. Decoding them requires the schema.
///
/// The text has no white space between its tokens.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct AttributesJson(Arc<str>);

impl AttributesJson {
    /// Takes over JSON text; white space is taken out.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        // Inside strings white space other than the plain space is escaped, so its absence says: compact already.
        let is_compact = !text.as_bytes().iter().any(|byte| *byte <= b' ');
        Self(if is_compact { text } else { json::compact(&text).into() })
    }

    /// Wraps JSON text that is known to have no white space between its tokens.
    pub fn compact(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// An object without attributes: `{}`.
    pub fn empty() -> Self {
        Self("{}".into())
    }

    /// Returns the JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The JSON text as bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Attributes may be secret: only their length is shown.
impl fmt::Debug for AttributesJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AttributesJson({} bytes)", self.0.len())
    }
}

/// The name of an object that is no longer current and waits for its deletion: eight characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeposedKey(Name);

impl DeposedKey {
    /// Takes over a key out of a state or from a command line; none when it has not exactly eight characters.
    pub fn new(text: &str) -> Option<Self> {
        // Terraform refuses deposed keys of any other length.
        (text.len() == 8 && text.is_ascii()).then(|| Self(text.into()))
    }

    /// A new key of eight random hexadecimal digits.
    pub fn generate() -> Self {
        Self(format!("{:08x}", random_bits() >> 32).into())
    }

    /// Returns the eight hexadecimal characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DeposedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The identity that a provider gave an object, beside its attributes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The version of the identity schema it was written with.
    pub schema_version: u64,
    /// The identity as JSON text; none where there is only a version.
    pub json: Option<AttributesJson>,
}

/// Keys that few records have: those of OpenTofu and of old versions of Terraform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignKeys {
    /// `attributes_flat` of Terraform 0.11 and earlier, as JSON text; replaces the attributes.
    pub attributes_flat: Option<Arc<str>>,
    /// The instance of a provider configuration with `for_each` that manages the object; written as OpenTofu does.
    pub provider: Option<Arc<ProviderConfig>>,
    /// OpenTofu's `depends_on`, as JSON text.
    pub depends_on: Option<Arc<str>>,
    /// Whether it is only forgotten where it would be destroyed: OpenTofu's `skip_destroy`.
    pub skip_destroy: bool,
}

/// The recorded data of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRecord {
    /// Whether it is as it should be.
    pub status: ObjectStatus,
    /// The version of the resource type's schema that the attributes were written with.
    pub schema_version: u64,
    /// The attributes, as JSON text.
    pub attributes: AttributesJson,
    /// The paths of sensitive values in the attributes.
    pub sensitive_attributes: Vec<Path>,
    /// The private data of the provider; may be empty.
    pub private: Arc<[u8]>,
    /// Its identity, if the provider gives one.
    pub identity: Option<Arc<Identity>>,
    /// The recorded dependencies.
    pub dependencies: Dependencies,
    /// Whether its replacement was, and will be, created before it is destroyed.
    pub create_before_destroy: bool,
    /// The keys that other tools store with the object.
    pub foreign: Option<Box<ForeignKeys>>,
}

impl ObjectRecord {
    /// The provider instance that manages it, where it is one of several that a provider block makes. Others are managed by what
    /// their resource says.
    pub fn provider(&self) -> Option<&Arc<ProviderConfig>> {
        self.foreign.as_ref()?.provider.as_ref()
    }

    /// Whether `provider` manages it, as far as instances of provider blocks go: other configurations are known to its resource.
    pub fn is_managed_by(&self, provider: &Arc<ProviderConfig>) -> bool {
        self.provider() == Some(provider).filter(|provider| !provider.key.is_none())
    }

    /// Whether it is not to be destroyed, as its block said at the last run.
    pub fn is_kept(&self) -> bool {
        self.foreign.as_ref().is_some_and(|keys| keys.skip_destroy)
    }

    /// Sets whether the object is forgotten instead of destroyed.
    #[must_use]
    pub fn kept(mut self, is_kept: bool) -> Self {
        // Unchanged records keep their allocation, since most objects have no such keys.
        if self.is_kept() != is_kept {
            let keys =
                ForeignKeys { skip_destroy: is_kept, ..self.foreign.take().map(|keys| *keys).unwrap_or_default() };
            // Dropped when empty, so that equal records compare as equal.
            self.foreign = (keys != ForeignKeys::default()).then(|| Box::new(keys));
        }
        self
    }

    /// Sets the provider configuration, if it is an instance of a block with `for_each`.
    pub(crate) fn managed_by(self: Arc<Self>, provider: Option<&Arc<ProviderConfig>>) -> Arc<Self> {
        if self.provider() == provider {
            return self;
        }
        // Copies only a record that others share.
        let mut record = Arc::unwrap_or_clone(self);
        let keys = ForeignKeys { provider: provider.cloned(), ..record.foreign.map(|keys| *keys).unwrap_or_default() };
        record.foreign = (keys != ForeignKeys::default()).then(|| Box::new(keys));
        Arc::new(record)
    }

    /// A ready object with these attributes, and nothing else known.
    pub fn new(schema_version: u64, attributes: AttributesJson) -> Self {
        Self {
            status: ObjectStatus::Ready,
            schema_version,
            attributes,
            sensitive_attributes: Vec::new(),
            private: Arc::default(),
            identity: None,
            dependencies: Dependencies::default(),
            create_before_destroy: false,
            foreign: None,
        }
    }

    /// Returns the attributes by path, if Terraform 0.11 or older wrote them; they replace
    /// [`ObjectRecord::attributes`].
    pub fn flat_attributes(&self) -> Option<BTreeMap<String, String>> {
        // The reader has accepted it as such a map.
        let flat = self.foreign.as_ref()?.attributes_flat.as_ref()?;
        Some(serde_json::from_str(flat).unwrap_or_default())
    }

    /// The attributes as a value of `ty`; those that `ty` does not have are left out.
    ///
    /// # Errors
    ///
    /// Fails if the attributes do not have that type; the message says where.
    pub fn decode(&self, ty: &Type) -> Result<Value, StoredError> {
        match self.flat_attributes() {
            Some(flat) => Ok(groma_value::flat::decode(&flat, ty)?),
            None => Ok(groma_value::json::from_stored(self.attributes.as_bytes(), ty)?),
        }
    }

    /// A number that stays the same while the object does: from its status, schema version, attributes and identity.
    pub fn fingerprint(&self) -> Fingerprint {
        let identity = self.identity.as_ref().and_then(|identity| identity.json.as_ref());
        let mut hasher = Sha256::new();
        hasher.update([matches!(self.status, ObjectStatus::Tainted).into()]);
        hasher.update(self.schema_version.to_le_bytes());
        hasher.update(identity.map_or(&b""[..], AttributesJson::as_bytes));
        // Separates the identity from the attributes, so that no pair of them hashes like another one.
        hasher.update([0]);
        hasher.update(self.text().as_bytes());
        // 128 bits are enough to tell two versions of one object apart, and take less space in the journal.
        let digest = hasher.finalize();
        let mut half = [0; 16];
        half.copy_from_slice(&digest[..16]);
        Fingerprint(half)
    }

    /// Whether both records describe the same object at different times: by identity, by the attribute `id`, or,
    /// without either, by all attributes.
    pub fn is_same_object(&self, other: &Self) -> bool {
        let identity = |object: &Self| object.identity.as_ref().and_then(|identity| identity.json.clone());
        match (identity(self), identity(other), self.id_json(), other.id_json()) {
            // An identity is the provider's own answer to the question, so it comes before the attribute `id`.
            (Some(one), Some(other), ..) => one == other,
            (_, _, Some(one), Some(other)) => one == other,
            _ => self.text() == other.text(),
        }
    }

    /// The attribute `id` as JSON text, by which most providers name an object.
    pub fn id_json(&self) -> Option<String> {
        #[derive(serde::Deserialize)]
        struct OnlyId<'a> {
            #[serde(borrow)]
            id: Option<&'a serde_json::value::RawValue>,
        }
        let parsed: OnlyId<'_> = serde_json::from_str(self.text()).ok()?;
        parsed.id.map(|id| id.get().to_owned())
    }

    /// The attributes as they are stored, whatever their form.
    fn text(&self) -> &str {
        let flat = self.foreign.as_ref().and_then(|keys| keys.attributes_flat.as_deref());
        flat.unwrap_or_else(|| self.attributes.as_str())
    }
}

/// Tells whether an object's record is the one that was seen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub(crate) [u8; 16]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_lose_their_white_space_but_not_that_of_their_strings() {
        assert_eq!(AttributesJson::new("{ \"a\": \"b c\" }").as_str(), "{\"a\":\"b c\"}");
    }

    #[test]
    fn the_fingerprint_follows_the_attributes_but_not_what_the_provider_keeps() {
        let one = ObjectRecord::new(0, AttributesJson::new("{\"id\":\"a\"}"));
        let mut other = one.clone();
        other.private = [1, 2].into();
        assert_eq!(one.fingerprint(), other.fingerprint());
        other.attributes = AttributesJson::new("{\"id\":\"b\"}");
        assert_ne!(one.fingerprint(), other.fingerprint());
        assert_eq!(other.id_json().as_deref(), Some("\"b\""));
        assert_eq!(ObjectRecord::new(0, AttributesJson::empty()).id_json(), None);
    }

    #[test]
    fn secrets_do_not_show_in_debug_output() {
        let record = ObjectRecord::new(0, AttributesJson::new("{\"password\":\"hunter2\"}"));
        assert!(!format!("{record:?}").contains("hunter2"));
    }

    #[test]
    fn a_deposed_key_has_eight_characters() {
        assert_eq!(DeposedKey::generate().as_str().len(), 8);
        assert!(DeposedKey::new("deadbeef").is_some());
        assert!(DeposedKey::new("dead").is_none());
        assert!(DeposedKey::new("ééab").is_none() && DeposedKey::new("ééééabcd").is_none());
    }
}
