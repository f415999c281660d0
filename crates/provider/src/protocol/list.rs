//! Requests and responses about objects that nobody manages yet: listing them, and writing configurations for them.

use std::fmt;
use std::sync::Arc;

use groma_value::Value;

use crate::{Name, ProviderDiagnostics};

/// Whether found objects come with all of their attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListDetail {
    /// What identifies them is enough.
    Identities,
    /// The objects too, as reading would give them.
    Objects,
}

/// Takes found objects while the search goes on; `Enough` ends it. Called on whatever thread the provider has.
pub type ListSink = Arc<dyn Fn(Listed) -> ListWanted + Send + Sync>;

/// Whether more objects are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListWanted {
    /// Go on.
    More,
    /// That is all.
    Enough,
}

/// A search for objects of a resource type.
#[derive(Clone)]
pub struct ListRequest {
    /// The resource type.
    pub type_name: Name,
    /// What is searched for: the configuration of the list block, wholly known.
    pub config: Value,
    /// How much of each object is wanted.
    pub detail: ListDetail,
    /// How many objects are wanted at most.
    pub limit: u64,
    /// Takes what is found.
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

/// A found object, or a problem on the way.
#[derive(Clone, Debug)]
pub struct Listed {
    /// What identifies the object; nothing where there is only a problem to tell.
    pub identity: Option<Value>,
    /// What people call it.
    pub display_name: String,
    /// The object, if it was wanted.
    pub object: Option<Value>,
    /// Problems with this object.
    pub diagnostics: ProviderDiagnostics,
}

/// An object that a configuration is to be written for.
#[derive(Clone, Debug)]
pub struct GenerateConfigRequest {
    /// The resource type.
    pub type_name: Name,
    /// The object.
    pub state: Value,
}

/// A configuration that manages an object as it is.
#[derive(Clone, Debug)]
pub struct GenerateConfigResponse {
    /// The configuration, an object of the resource type.
    pub config: Value,
    /// Problems.
    pub diagnostics: ProviderDiagnostics,
}
