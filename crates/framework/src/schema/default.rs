//! Values for arguments that the configuration leaves out (FW-16).

use std::sync::Arc;

use groma_provider::ProviderDiagnostic;
use groma_value::{Number, Path, Value};

/// The inputs of a computed default.
#[derive(Clone, Copy)]
pub struct DefaultRequest<'a> {
    /// The path of the attribute.
    pub path: &'a Path,
    /// The configuration of the whole object.
    pub config: &'a Value,
}

type Compute = dyn Fn(&DefaultRequest<'_>) -> Result<Value, ProviderDiagnostic> + Send + Sync;

/// The value of an attribute that is null in the configuration.
#[derive(Clone)]
pub struct DefaultValue(Kind);

#[derive(Clone)]
enum Kind {
    Static(Value),
    Dynamic(Arc<Compute>),
}

impl DefaultValue {
    /// Always the same value.
    pub fn of(value: Value) -> Self {
        Self(Kind::Static(value))
    }

    /// Computes a default from the configuration; unknown if that is not possible yet.
    pub fn computed(
        compute: impl Fn(&DefaultRequest<'_>) -> Result<Value, ProviderDiagnostic> + Send + Sync + 'static,
    ) -> Self {
        Self(Kind::Dynamic(Arc::new(compute)))
    }

    /// The fixed value, if it is one.
    pub(crate) fn fixed(&self) -> Option<&Value> {
        match &self.0 {
            Kind::Static(value) => Some(value),
            Kind::Dynamic(_) => None,
        }
    }

    pub(crate) fn resolve(&self, request: &DefaultRequest<'_>) -> Result<Value, ProviderDiagnostic> {
        match &self.0 {
            Kind::Static(value) => Ok(value.clone()),
            Kind::Dynamic(compute) => compute(request),
        }
    }
}

macro_rules! fixed {
    ($($ty:ty),*) => {$(
        impl From<$ty> for DefaultValue {
            fn from(value: $ty) -> Self {
                Self::of(Value::from(value))
            }
        }
    )*};
}

fixed!(Value, Number, bool, &str, String);

impl From<i64> for DefaultValue {
    fn from(value: i64) -> Self {
        Self::of(Value::number(value))
    }
}

impl From<f64> for DefaultValue {
    /// A float that is not a number (NaN) is not a default: it becomes null.
    fn from(value: f64) -> Self {
        Self::of(Number::from_f64(value).map_or(Value::NULL, Value::number))
    }
}
