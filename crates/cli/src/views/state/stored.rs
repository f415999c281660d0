//! The objects of a state, decoded.

use std::sync::Arc;

use groma_address::{ProviderConfig, ResourceInstance};
use groma_provider::Schema;
use groma_state::{DeposedKey, Identity};
use groma_value::Value;
use serde_json::Value as Json;

/// One object of a state, decoded.
#[derive(Clone, Debug)]
pub struct StoredObject {
    /// The instance it belongs to.
    pub address: ResourceInstance,
    /// The deposed key, for a deposed object.
    pub deposed: Option<DeposedKey>,
    /// Whether it must be replaced.
    pub tainted: bool,
    /// The provider configuration that manages it.
    pub provider: ProviderConfig,
    /// The schema of its type.
    pub schema: Arc<Schema>,
    /// Its attributes; sensitive ones are marked.
    pub value: Value,
    /// Addresses of what it depends on.
    pub depends_on: Vec<String>,
    /// The provider's identity of the object, if it has one.
    pub identity: Option<Arc<Identity>>,
}

impl StoredObject {
    /// Its identity as documents show it; none where its record has only a version, or what is not JSON.
    pub(crate) fn identity_json(&self) -> Option<Json> {
        serde_json::from_str(self.identity.as_ref()?.json.as_ref()?.as_str()).ok()
    }
}
