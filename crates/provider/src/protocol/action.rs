//! Requests and responses about actions: what a provider does on request, without an object that it leaves in the state.

use std::fmt;
use std::sync::Arc;

use groma_value::Value;

use super::{ClientCapabilities, Deferred};
use crate::{Name, ProviderDiagnostics};

/// An action to be planned.
#[derive(Clone, Debug)]
pub struct PlanActionRequest {
    /// The action type.
    pub type_name: Name,
    /// The configuration; may hold unknown values.
    pub config: Value,
    /// What the caller can handle.
    pub client_capabilities: ClientCapabilities,
}

/// What the provider says of an action before it is invoked.
#[derive(Clone, Debug, Default)]
pub struct PlanActionResponse {
    /// That, and why, the provider cannot say yet.
    pub deferred: Option<Deferred>,
    /// Problems.
    pub diagnostics: ProviderDiagnostics,
}

/// Takes the messages of an action while it goes on. Called on whatever thread the provider has.
pub type ActionProgress = Arc<dyn Fn(&str) + Send + Sync>;

/// An action to be invoked.
#[derive(Clone)]
pub struct InvokeActionRequest {
    /// The action type.
    pub type_name: Name,
    /// The configuration, wholly known.
    pub config: Value,
    /// What the caller can handle.
    pub client_capabilities: ClientCapabilities,
    /// Is told what goes on.
    pub progress: ActionProgress,
}

impl fmt::Debug for InvokeActionRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InvokeActionRequest").field("type_name", &self.type_name).finish_non_exhaustive()
    }
}
