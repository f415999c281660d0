//! The backend types, each with its argument schema and its constructor.

use std::sync::Arc;

use crate::error::StoreError;
use crate::host::Host;
use crate::schema::{BackendSchema, Settings};
use crate::store::StateStore;
use crate::stores;

/// The constructor of a store.
pub type OpenStore = fn(&Settings, &Host) -> Result<Arc<dyn StateStore>, StoreError>;

/// A backend type.
#[derive(Clone, Copy)]
pub struct BackendType {
    /// The label of `backend` blocks.
    pub name: &'static str,
    /// Returns the argument schema.
    pub schema: fn() -> &'static BackendSchema,
    /// Creates a store. It checks the settings, and sends no request yet.
    pub open: OpenStore,
}

impl std::fmt::Debug for BackendType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("BackendType").field(&self.name).finish()
    }
}

/// All remote backend types, by name.
const TYPES: &[BackendType] = &[
    stores::azurerm::TYPE,
    stores::consul::TYPE,
    stores::cos::TYPE,
    stores::gcs::TYPE,
    stores::http::TYPE,
    stores::inmem::TYPE,
    stores::kubernetes::TYPE,
    stores::oci::TYPE,
    stores::pg::TYPE,
    stores::remote::TYPE,
    stores::s3::TYPE,
];

/// Returns the remote backend type with this name. The local backend is not one.
pub fn find(name: &str) -> Option<&'static BackendType> {
    TYPES.iter().find(|ty| ty.name == name)
}

/// Returns all remote backend types, sorted by name.
pub fn all() -> &'static [BackendType] {
    TYPES
}
