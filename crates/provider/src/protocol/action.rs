//! Requests and responses for actions, which run on request and leave no object in the state.

use std::fmt;
use std::sync::Arc;

use groma_value::Value;

use super::{ClientCapabilities, Deferred};
use crate::{Name, ProviderDiagnostics};

/// A request for the plan of an action.
#[derive(Clone, Debug)]
pub struct PlanActionRequest {
    /// The action type to plan or invoke.
    pub type_name: Name,
    /// The configuration, which may contain unknown values.
    pub config: Value,
    /// The optional protocol features that the caller supports.
    pub client_capabilities: ClientCapabilities,
}

/// The response to the plan of an action.
#[derive(Clone, Debug, Default)]
pub struct PlanActionResponse {
    /// The reason of the deferral, if the provider deferred the action.
    pub deferred: Option<Deferred>,
    /// The errors and warnings of the call.
    pub diagnostics: ProviderDiagnostics,
}

/// Receives the progress messages of an action, on any thread of the provider.
pub type ActionProgress = Arc<dyn Fn(&str) + Send + Sync>;

/// A request to run an action.
#[derive(Clone)]
pub struct InvokeActionRequest {
    /// The action type to plan or invoke.
    pub type_name: Name,
    /// The wholly known configuration.
    pub config: Value,
    /// The optional protocol features that the caller supports.
    pub client_capabilities: ClientCapabilities,
    /// The receiver of progress messages.
    pub progress: ActionProgress,
}

impl fmt::Debug for InvokeActionRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InvokeActionRequest").field("type_name", &self.type_name).finish_non_exhaustive()
    }
}
