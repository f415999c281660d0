//! Errors of converting a value to a model.

use std::fmt;

use groma_provider::ProviderDiagnostic;
use groma_value::Path;

/// A value that a field cannot hold. The value itself is not told: it may be a secret.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelError {
    /// The path in the object.
    pub path: Path,
    /// The found and the expected value, for the provider's developers.
    pub message: String,
    /// The requirement on the value, for users: `must be a number`.
    pub demand: String,
}

impl ModelError {
    /// A problem with the value at `path`.
    pub fn new(path: &Path, message: impl Into<String>) -> Self {
        Self { path: path.clone(), message: message.into(), demand: "is not what the provider can work with".into() }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}

impl std::error::Error for ModelError {}

impl From<ModelError> for ProviderDiagnostic {
    fn from(error: ModelError) -> Self {
        let detail = format!(
            "{}. This is a bug in the provider: the field of its model must be able to hold the value. Please report it to \
             those who develop the provider.",
            error.message
        );
        ProviderDiagnostic::error("Value does not fit the provider's model", detail).at(error.path)
    }
}
