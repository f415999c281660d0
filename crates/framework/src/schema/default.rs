//! Values for arguments that the configuration leaves out (FW-16).

use std::sync::Arc;

use groma_provider::ProviderDiagnostic;
use groma_value::{Path, Value};

/// What a default is computed from.
#[derive(Clone, Copy)]
pub struct DefaultRequest<'a> {
    /// Where the attribute is.
    pub path: &'a Path,
    /// The whole configuration.
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

    /// What `compute` makes of the configuration; unknown when it cannot tell yet.
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
