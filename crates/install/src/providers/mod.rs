//! Provider packages: sources, verification, installation, the lock file, selection.
//!
//! The modules in their order, each using only those before it: `platform`, `hash`, `stamp`, `notes`, `package`,
//! `filesystem`, `signature`,
//! `registry`, `network_mirror`, `oci_mirror`, `sources`, `lock`, `store`, `fetch`, `installer`,
//! `other_platforms`, `package_problem`, `selection`.

mod constraints;
mod fetch;
pub mod filesystem;
pub mod hash;
mod installer;
mod lock;
mod network_mirror;
mod notes;
mod other_platforms;
mod package;
mod package_error;
mod registry;
mod selection;
pub mod signature;
mod sources;
mod store;

pub(crate) use network_mirror::{Archives, Index};
pub(crate) use registry::{Download, Versions, checksums};

pub use constraints::constraints_text;
pub use installer::{Cache, CacheTrust, Event, Installation, Installer, Selecting};
pub use lock::{LOCK_FILE, Lock, Locks};
pub use network_mirror::RepositoryTemplate;
pub use other_platforms::{LockablePackage, cached_package, write_mirror_documents};
pub use package::{Authentication, Location, PackageMeta, SourceError};
pub use package::{InvalidPlatform, Platform};
pub use package_error::PackageProblem;
pub use package_error::{NotLocked, PackageError, VersionError};
pub use selection::{Candidates, ExecutableError, Selection, executable};
pub use sources::{Method, Pattern, Source, Sources};
pub use store::Store;
