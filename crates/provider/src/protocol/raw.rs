//! Objects as a state has them.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_value::{Type, Value};

use crate::ProviderDiagnostic;

/// A stored object, in the form that the state has (LC-19).
#[derive(Clone, Debug)]
pub enum RawState {
    /// JSON.
    Json(Arc<str>),
    /// What Terraform wrote before 0.12: a text for each part, by the path of the part, such as `tags.%`.
    Flat(Arc<BTreeMap<String, String>>),
}

impl RawState {
    /// The JSON text.
    ///
    /// # Errors
    ///
    /// The object has the older form, which only providers know that are as old.
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

    /// The object as a value of `ty`; attributes that `ty` does not have are left out.
    ///
    /// # Errors
    ///
    /// It is not of that type: says how.
    pub fn decode(&self, ty: &Type) -> Result<Value, String> {
        match self {
            Self::Json(json) => groma_value::json::from_stored(json.as_bytes(), ty).map_err(|error| error.to_string()),
            Self::Flat(flat) => groma_value::flat::decode(flat, ty),
        }
    }
}

impl<T: Into<Arc<str>>> From<T> for RawState {
    fn from(json: T) -> Self {
        Self::Json(json.into())
    }
}
