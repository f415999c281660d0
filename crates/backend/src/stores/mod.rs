//! The stores, one file or directory each.

pub(crate) mod azurerm;
pub(crate) mod consul;
pub(crate) mod cos;
mod digests;
pub(crate) mod gcs;
pub(crate) mod http;
pub(crate) mod inmem;
pub(crate) mod kubernetes;
mod lock_table;
mod object_store;
pub(crate) mod oci;
pub(crate) mod oss;
pub(crate) mod pg;
pub(crate) mod remote;
mod requests;
pub(crate) mod s3;
mod token_errors;
mod xml;
mod xml_bucket;
