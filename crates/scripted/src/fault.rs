//! Scripted failures of a provider.

use groma_provider::{ProviderDiagnostic, ProviderDiagnostics};
use groma_value::{Type, Value};

/// A failure of an operation. Faults that do not apply to an operation have no effect there.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Fails with this message without having done anything.
    Error(&'static str),
    /// Fails with this message after completing the operation; the response includes the object (LC-16).
    ErrorAfter(&'static str),
    /// Succeeds with this warning.
    Warning(&'static str),
    /// Panics inside of the provider's code.
    Panic,
    /// Returns a null object.
    Null,
    /// Returns no object at all from an apply.
    Nothing,
    /// Returns this value for the attribute.
    Returns(&'static str, Value),
    /// Returns an unknown value for the attribute.
    Unknown(&'static str),
    /// Returns an object that does not conform to the schema.
    WrongShape,
}

impl Fault {
    /// Returns the error that prevents the operation, if any.
    pub(crate) fn before(&self) -> Option<ProviderDiagnostics> {
        match self {
            Self::Error(message) => Some(error(message)),
            Self::Panic => panic!("scripted panic"),
            _ => None,
        }
    }

    /// Returns the diagnostics to add after the operation.
    pub(crate) fn after(&self) -> ProviderDiagnostics {
        match self {
            Self::ErrorAfter(message) => error(message),
            Self::Warning(message) => ProviderDiagnostic::warning(*message, "The script says so.").into(),
            _ => ProviderDiagnostics::new(),
        }
    }

    /// Modifies the object in the response.
    pub(crate) fn distort(&self, object: Value) -> Value {
        match self {
            Self::Null => Value::null(object.ty()),
            Self::Returns(attribute, value) => with(&object, attribute, |_| value.clone()),
            Self::Unknown(attribute) => with(&object, attribute, |old| Value::unknown(old.ty())),
            Self::WrongShape => Value::object([("surprise", Value::unknown(Type::String).unknown_as_null())]),
            _ => object,
        }
    }
}

fn error(message: &str) -> ProviderDiagnostics {
    ProviderDiagnostic::error(message, "The script says so.").into()
}

/// Changes one attribute of `object`.
pub(crate) fn with(object: &Value, attribute: &str, change: impl Fn(&Value) -> Value) -> Value {
    match object.as_object() {
        Some(view) => Value::object(
            view.iter().map(|(name, old)| (name.clone(), if **name == *attribute { change(old) } else { old.clone() })),
        ),
        None => object.clone(),
    }
}
