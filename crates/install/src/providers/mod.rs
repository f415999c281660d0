//! Provider packages: sources, verification, installation, the lock file, selection.
//!
//! The modules in their order, each using only those before it: `platform`, `hash`, `notes`, `constraints`,
//! `builtin_choice`, `lock`, `package_error`, `package`, `filesystem`, `signature`, `registry`, `network_mirror`,
//! `sources`, `store`, `fetch`, `installer`, `other_platforms`, `selection`.

mod builtin_choice;
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
mod platform;
mod registry;
mod selection;
pub mod signature;
mod sources;
mod store;

pub(crate) use network_mirror::{Archives, Index};
pub(crate) use registry::{Download, Versions, checksums};

pub use builtin_choice::{BuiltinChoice, BuiltinReason, InvalidPreference, PluginReason, Preference};
pub use constraints::constraints_text;
pub use installer::{Cache, CacheTrust, Event, Installation, Installer, VersionPolicy};
pub use lock::{LOCK_FILE, Lock, Locks};
pub use network_mirror::RepositoryTemplate;
pub use other_platforms::{LockablePackage, cached_package, write_mirror_documents};
pub use package::{Authentication, Location, PackageMeta, SourceError};
pub use package_error::{NotLocked, PackageError, PackageProblem, VersionError};
pub use platform::{InvalidPlatform, Platform};
pub use selection::{Candidates, ExecutableError, Selection, executable};
pub use sources::{Method, Pattern, Source, Sources};
pub use store::Store;
