//! Modules, blocks, overrides, version constraints and variables files.
//!
//! [`load`] reads the directory of a root module and the modules that it calls, decodes every block into the types of
//! [`model`], applies override files, and checks everything that can be checked without state or providers:
//! duplicates, names, references, module arguments, provider configurations. It does not interpret the result: bodies
//! and expressions stay as written for the engine, which has schemas and values.

mod assemble;
mod checks;
mod configuration;
mod decode;
mod load;
mod lock_file;
mod manifest;
pub mod model;
pub mod module_source;
mod options;
mod providers;
mod source;
pub mod variables;
pub mod version;

pub use checks::{
    attribute_to_typo, check_overrides, check_reference, check_references, deprecated_variable, unknown_backend,
    unsupported_backend,
};
pub use configuration::{Configuration, DeepReference, LoadStatus, LoadedFile, TestFile, TestRun, Tested};
pub use load::{
    InstalledModules, ModuleLocator, ModuleRequest, has_test_files, load, load_alone, load_encryption, load_with,
    with_blocks,
};
pub use lock_file::{LockFile, LockedProvider};
pub use manifest::{InstalledModule, ManifestError, ModuleManifest};
pub use model::*;
pub use module_source::{ModuleSource, Package, RegistryModule, SourceAddressError};
pub use options::{Calls, LoadOptions, Queries, References, TestDirectory};
pub use providers::{MissingProvider, ProviderKey, ProviderRequirement, ProviderUse, module_requirements};
pub use source::{DiskFiles, Entry, Files, MemoryFiles};
