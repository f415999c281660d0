//! Requests and responses for unmanaged objects: list queries and generated configurations.

use std::fmt;
use std::sync::Arc;

use groma_value::Value;

use crate::{Name, ProviderDiagnostics};

/// The amount of data per result of a list query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListDetail {
    /// Resource identities only.
    Identities,
    /// Identities and full objects, as a read would return them.
    Objects,
}

/// Receives the results of a list query as they arrive, on any thread of the provider; [`ListControl::Stop`] ends the
/// query.
pub type ListSink = Arc<dyn Fn(Listed) -> ListControl + Send + Sync>;

/// The receiver's decision whether a list query continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListControl {
    /// Deliver further results.
    Continue,
    /// End the query.
    Stop,
}

/// A request to list objects of a resource type.
#[derive(Clone)]
pub struct ListRequest {
    /// The resource type to list.
    pub type_name: Name,
    /// The wholly known configuration of the list block, which filters the results.
    pub config: Value,
    /// Whether full objects are requested.
    pub detail: ListDetail,
    /// The maximum number of results.
    pub limit: u64,
    /// The receiver of the results.
    pub found: ListSink,
}

impl fmt::Debug for ListRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { type_name, detail, limit, .. } = self;
        f.debug_struct("ListRequest")
            .field("type_name", type_name)
            .field("detail", detail)
            .field("limit", limit)
            .finish_non_exhaustive()
    }
}

/// One event of a list query: an object, or diagnostics without an object.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The resource identity; `None` for an event that has only diagnostics.
    pub identity: Option<Value>,
    /// The name of the object for people.
    pub display_name: String,
    /// The object, if requested.
    pub object: Option<Value>,
    /// The errors and warnings about this object.
    pub diagnostics: ProviderDiagnostics,
}

/// A request to generate the configuration of an existing object.
#[derive(Clone, Debug)]
pub struct GenerateConfigRequest {
    /// The type of the object.
    pub type_name: Name,
    /// The object as it was read.
    pub state: Value,
}

/// The response to a request for a generated configuration.
#[derive(Clone, Debug)]
pub struct GenerateConfigResponse {
    /// The configuration, as an object of the resource type.
    pub config: Value,
    /// The errors and warnings of the call.
    pub diagnostics: ProviderDiagnostics,
}
