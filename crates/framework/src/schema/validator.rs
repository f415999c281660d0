//! Checks of configured values (FW-19).

use groma_provider::{ProviderDiagnostic, ProviderDiagnostics};
use groma_value::{Path, Value};

/// The inputs of a validator.
#[derive(Clone, Copy)]
pub struct ValidatorRequest<'a> {
    /// The path of the attribute.
    pub path: &'a Path,
    /// Its value in the configuration: never null, possibly unknown in part.
    pub value: &'a Value,
    /// The configuration of the whole object.
    pub config: &'a Value,
}

/// A rule about the configured value of an attribute. It is not asked about null, nor about wholly unknown values.
pub trait Validator: Send + Sync {
    /// Returns the requirement as a phrase: `must be between 1 and 10`.
    fn description(&self) -> String;

    /// Checks the value, and returns its problems.
    fn validate(&self, request: &ValidatorRequest<'_>) -> ProviderDiagnostics;
}

struct FunctionValidator<F> {
    description: String,
    check: F,
}

impl<F: Fn(&Value) -> Result<(), String> + Send + Sync> Validator for FunctionValidator<F> {
    fn description(&self) -> String {
        self.description.clone()
    }

    fn validate(&self, request: &ValidatorRequest<'_>) -> ProviderDiagnostics {
        match (self.check)(request.value) {
            Ok(()) => ProviderDiagnostics::new(),
            Err(detail) => ProviderDiagnostic::error("Invalid Attribute Value", detail).at(request.path.clone()).into(),
        }
    }
}

/// A validator from a function that says what is wrong with a value.
pub fn validator(
    description: impl Into<String>,
    check: impl Fn(&Value) -> Result<(), String> + Send + Sync + 'static,
) -> impl Validator {
    FunctionValidator { description: description.into(), check }
}
