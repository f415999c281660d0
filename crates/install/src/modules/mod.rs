//! Installation of modules from registries, repositories, archives and directories.
//!
//! The configuration loader calls [`ModuleInstaller`] for each module call. It fetches missing packages, and writes
//! the manifest of installed modules at the end.

mod address;
mod checksum;
mod copy;
mod error;
mod fetch;
mod git;
mod installer;
mod objects;
mod registry;
mod web;

pub use address::shown;
pub use copy::copy_module;
pub use error::FetchError;
pub use fetch::Fetcher;
pub use installer::{Freshness, ModuleInstaller, ModulePaths, ModuleProgress};
pub(crate) use registry::{in_document, listed};
pub(crate) use web::{in_page, relative_to};
