//! Modules, blocks, overrides, version constraints and variables files.
//!
//! [`load`] reads the folder of a root module and of all modules it calls, decodes every block into the types of
//! [`model`], applies override files and checks everything that needs neither state nor providers: duplicates, names,
//! references, module arguments, provider configurations. What the result means for a plan is the engine's business;
//! bodies and expressions stay as written, to be evaluated with a schema and values.

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
    DEPRECATED_VARIABLE, UNSUPPORTED_BACKEND, check_overrides, check_reference, check_references, deprecated_variable,
    unless_misspelt,
};
pub use configuration::{Configuration, DeepReference, LoadedFile, Soundness, TestFile, TestRun, Tested};
pub use load::{
    InstalledModules, ModuleLocator, ModuleRequest, has_test_files, load, load_alone, load_encryption, load_with,
};
pub use lock_file::{LockFile, LockedProvider};
pub use manifest::{InstalledModule, ModuleManifest};
pub use model::*;
pub use module_source::{ModuleSource, Package, RegistryModule};
pub use options::{Calls, LoadOptions, Queries, References, TestFolder};
pub use providers::{MissingProvider, ProviderKey, ProviderRequirement, ProviderUse, module_requirements};
pub use source::{DiskFiles, Entry, Files, MemoryFiles};
