//! Ways for a provider to go wrong.

use groma_provider::{ProviderDiagnostic, ProviderDiagnostics};
use groma_value::{Type, Value};

/// A way for an operation to go wrong. Faults that make no sense for an operation do nothing there.
#[derive(Clone, Debug)]
pub enum Fault {
    /// It fails with this message, and nothing was done.
    Error(&'static str),
    /// It fails with this message after it was done: the object comes back with the error (LC-16).
    ErrorAfter(&'static str),
    /// It only warns with this message.
    Warning(&'static str),
    /// The code panics.
    Panic,
    /// What comes back is null.
    Null,
    /// Nothing at all comes back from an apply.
    Nothing,
    /// This attribute comes back with this value.
    Returns(&'static str, Value),
    /// This attribute comes back unknown.
    Unknown(&'static str),
    /// What comes back has another type than the schema says.
    WrongShape,
}

impl Fault {
    /// The error to give before anything is done.
    pub(crate) fn before(&self) -> Option<ProviderDiagnostics> {
        match self {
            Self::Error(message) => Some(error(message)),
            Self::Panic => panic!("scripted panic"),
            _ => None,
        }
    }

    /// The diagnostics to give afterwards.
    pub(crate) fn after(&self) -> ProviderDiagnostics {
        match self {
            Self::ErrorAfter(message) => error(message),
            Self::Warning(message) => ProviderDiagnostic::warning(*message, "The script says so.").into(),
            _ => ProviderDiagnostics::new(),
        }
    }

    /// The object as it comes back.
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

/// `object` with another value for one attribute.
pub(crate) fn with(object: &Value, attribute: &str, change: impl Fn(&Value) -> Value) -> Value {
    match object.as_object() {
        Some(view) => Value::object(
            view.iter().map(|(name, old)| (name.clone(), if **name == *attribute { change(old) } else { old.clone() })),
        ),
        None => object.clone(),
    }
}
