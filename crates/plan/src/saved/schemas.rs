//! The schemas that values of a saved plan conform to.

use std::sync::Arc;

use groma_address::{Name, ProviderAddress, Resource};
use groma_diagnostics::Diagnostics;
use groma_provider::Schema;

/// Finds the schemas of a plan that is read: the file names types only.
pub trait Schemas {
    /// Returns the schema of a resource's type.
    ///
    /// # Errors
    ///
    /// The provider cannot be started, or has no such type.
    fn resource(&mut self, provider: &ProviderAddress, resource: &Resource) -> Result<Arc<Schema>, Diagnostics>;

    /// Returns the schema of an action type.
    ///
    /// # Errors
    ///
    /// The provider cannot be started, or has no such type.
    fn action(&mut self, provider: &ProviderAddress, type_name: &Name) -> Result<Arc<Schema>, Diagnostics>;
}
