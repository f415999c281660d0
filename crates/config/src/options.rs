//! Options of loading a configuration.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_address::{DEFAULT_PROVIDER_HOST, Name};
use groma_encryption::KeyServices;
use groma_value::Value;
use indexmap::IndexMap;

use crate::version::Version;

/// Whether the root module's query files (`.tfquery.hcl`) are loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Queries {
    /// Query files are ignored.
    #[default]
    Ignored,
    /// Query files are part of the configuration.
    Included,
}

/// The extent of reference checking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum References {
    /// Every reference to an undeclared object is an error.
    #[default]
    Checked,
    /// Only references in the backend block are checked, for commands that open a state but evaluate nothing else.
    BackendOnly,
    /// No references are checked, for commands that evaluate nothing.
    Unchecked,
}

/// Whether the modules that the root module calls are loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Calls {
    /// Called modules are part of the configuration.
    #[default]
    Included,
    /// Called modules are ignored, for commands that need the root module's blocks only.
    Ignored,
}

/// The directory of test files, which are also loaded from the root module's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestDirectory {
    /// The default directory `tests`, which need not exist.
    Default,
    /// A directory given on the command line, relative to the root module's directory.
    Named(PathBuf),
}

impl TestDirectory {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Default => Path::new("tests"),
            Self::Named(path) => path,
        }
    }
}

/// Options of `load` and its variants.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// Directory of the root module; empty for the working directory.
    pub directory: PathBuf,
    /// The process's original working directory: the value of `path.cwd` in module sources and constants.
    pub working_directory: PathBuf,
    /// The Terraform version that `required_version` of `.tf` files is held against.
    pub terraform_version: Version,
    /// The OpenTofu version that `required_version` of `.tofu` files is held against.
    pub opentofu_version: Version,
    /// The registry host of provider sources that name none.
    pub default_registry: Name,
    /// Directory of installed modules and their manifest, relative to the root module's directory or absolute.
    pub data_directory: PathBuf,
    /// Values of root variables, for module sources and versions that refer to them.
    pub variables: VariableSources,
    /// Already evaluated values of root variables; they take precedence over `variables`.
    pub early_variables: IndexMap<Name, Value>,
    /// The selected workspace, for backends and module sources that refer to it.
    pub workspace: String,
    /// Encryption configuration from the environment (`TF_ENCRYPTION`), merged over the `encryption` block.
    pub encryption: Option<String>,
    /// Network access to key management services.
    pub key_services: Option<Arc<dyn KeyServices>>,
    /// Whether query files are loaded.
    pub queries: Queries,
    /// Whether called modules are loaded.
    pub calls: Calls,
    /// Directory of the test files; `None` to load no tests.
    pub tests: Option<TestDirectory>,
    /// The extent of reference checking.
    pub references: References,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            directory: PathBuf::new(),
            working_directory: PathBuf::new(),
            terraform_version: Version::new(1, 15, 5),
            opentofu_version: Version::new(1, 12, 0),
            default_registry: DEFAULT_PROVIDER_HOST.into(),
            data_directory: PathBuf::from(".terraform"),
            variables: VariableSources::default(),
            early_variables: IndexMap::new(),
            workspace: "default".to_owned(),
            encryption: None,
            key_services: None,
            queries: Queries::default(),
            calls: Calls::default(),
            tests: None,
            references: References::default(),
        }
    }
}

/// The environment variables and command-line options that set variables.
#[derive(Clone, Debug, Default)]
pub struct VariableSources {
    /// Environment variables with the prefix `TF_VAR_`, without the prefix. A value may be invalid UTF-8.
    pub environment: Vec<(String, OsString)>,
    /// `-var` and `-var-file` options in command-line order.
    pub options: Vec<VariableOption>,
}

/// A command-line option that sets variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableOption {
    /// `-var`, as `name=value`.
    Assignment(String),
    /// `-var-file`: the path of a variables file.
    File(PathBuf),
}
