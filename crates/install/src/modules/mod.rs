//! Installing modules: from registries, repositories, archives and folders.
//!
//! [`ModuleInstaller`] is asked by the loader of configurations for each called module, fetches what is not there yet, and knows at the
//! end what the manifest of installed modules has to say.

mod alone;
mod checksum;
mod copy;
mod error;
mod fetch;
mod git;
mod installer;
mod objects;
mod oci;
mod pattern;
mod query;
mod registry;
mod shown;
mod web;

pub use alone::copy_module;
pub use error::FetchError;
pub use fetch::Fetcher;
pub use installer::{Freshness, ModuleInstaller, ModuleProgress, Places};
pub(crate) use registry::{in_document, listed};
pub use shown::shown;
pub(crate) use web::{in_page, relative_to};
