//! Packages in OCI registries: repositories whose tags lead to manifests, whose layers are archives.

mod client;
mod document;

pub use client::Repository;
pub(crate) use client::{OciError, Registry, Tags, TokenServer};
pub use document::Descriptor;
pub(crate) use document::Manifest;
