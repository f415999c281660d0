//! Objects in the form in which a state stores them.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_value::{StoredError, Type, Value};

use crate::ProviderDiagnostic;

/// A stored object before its upgrade to the current schema (LC-19).
#[derive(Clone, Debug)]
pub enum RawState {
    /// The JSON form of all current states.
    Json(Arc<str>),
    /// The flatmap form of Terraform before 0.12: one string per leaf, by its path, for example `tags.%` for a map
    /// size.
    Flat(Arc<BTreeMap<String, String>>),
}

impl RawState {
    /// Returns the JSON form.
    ///
    /// # Errors
    ///
    /// The object has the flatmap form, which only old provider versions can upgrade.
    pub fn json(&self) -> Result<&Arc<str>, ProviderDiagnostic> {
        match self {
            Self::Json(json) => Ok(json),
            Self::Flat(_) => Err(ProviderDiagnostic::error(
                "Unreadable stored object",
                "The object was stored by Terraform 0.11 or older, in a form that this provider does not read. Apply once \
                 with a version of the provider that does, or remove the object from the state and import it again.",
            )),
        }
    }

    /// Decodes the object as a value of type `ty`, ignoring attributes that `ty` does not have.
    ///
    /// # Errors
    ///
    /// Describes why the object does not conform to `ty`.
    pub fn decode(&self, ty: &Type) -> Result<Value, StoredError> {
        match self {
            Self::Json(json) => Ok(groma_value::json::from_stored(json.as_bytes(), ty)?),
            Self::Flat(flat) => Ok(groma_value::flat::decode(flat, ty)?),
        }
    }
}

impl<T: Into<Arc<str>>> From<T> for RawState {
    fn from(json: T) -> Self {
        Self::Json(json.into())
    }
}
