//! The table of all remote backend types.

use crate::backend_type::BackendType;
use crate::stores;

/// All remote backend types, by name.
const TYPES: &[BackendType] = &[
    stores::azurerm::TYPE,
    stores::remote::CLOUD_TYPE,
    stores::consul::TYPE,
    stores::cos::TYPE,
    stores::gcs::TYPE,
    stores::http::TYPE,
    stores::inmem::TYPE,
    stores::kubernetes::TYPE,
    stores::oci::TYPE,
    stores::oss::TYPE,
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
