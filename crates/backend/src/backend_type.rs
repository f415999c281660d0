//! A backend type: its name, argument schema and constructor.

use std::sync::Arc;

use crate::error::StoreError;
use crate::host::Host;
use crate::schema::{BackendSchema, Settings};
use crate::store::StateStore;

/// The constructor of a store.
pub type OpenStore = fn(&Settings, &Host) -> Result<Arc<dyn StateStore>, StoreError>;

/// A type of remote backend, such as `consul`.
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
