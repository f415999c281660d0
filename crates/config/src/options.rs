//! Options of loading a configuration.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_address::{DEFAULT_PROVIDER_HOST, Name};
use groma_encryption::Network;
use groma_value::Value;
use indexmap::IndexMap;

use crate::variables::sources::VariableSources;
use crate::version::Version;

/// Whether the query files of the root module are part of the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Queries {
    /// Test files are ignored.
    #[default]
    LeftOut,
    /// Test files are read.
    Read,
}

/// Whether the names in expressions are looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum References {
    /// References to undeclared names are errors.
    #[default]
    Checked,
    /// Only references of the backend are checked, for commands that evaluate nothing but open a state.
    OfBackend,
    /// References are not checked, for commands that evaluate nothing.
    LeftAlone,
}

/// Whether the modules that the root module calls are part of the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Calls {
    /// Module calls are followed.
    #[default]
    Followed,
    /// Module calls are ignored, for commands that only need the root module.
    LeftAlone,
}

/// The directory of test files, in addition to those next to the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestFolder {
    /// The default directory, which may be missing.
    Usual,
    /// A folder that somebody has named, relative to the root module's.
    Named(PathBuf),
}

impl TestFolder {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Usual => Path::new("tests"),
            Self::Named(path) => path,
        }
    }
}

/// Options of loading a configuration.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// The folder of the root module; where the command works if it is empty.
    pub directory: PathBuf,
    /// The directory of the program's start, for module sources and constants that use `path.cwd`.
    pub working_directory: PathBuf,
    /// The Terraform version that `required_version` of `.tf` files is held against.
    pub terraform_version: Version,
    /// The OpenTofu version that `required_version` of `.tofu` files is held against.
    pub opentofu_version: Version,
    /// The registry host of provider sources that name none.
    pub default_registry: Name,
    /// The directory of installed modules and their manifest, relative to the root module's directory or absolute.
    pub data_directory: PathBuf,
    /// The sources of root variables, for module sources and versions that depend on them.
    pub variables: VariableSources,
    /// Values of root variables that are known already; they count more.
    pub early_variables: IndexMap<Name, Value>,
    /// The workspace, for backends and module sources that depend on it.
    pub workspace: String,
    /// The content of `TF_ENCRYPTION`, which replaces the encryption block.
    pub encryption: Option<String>,
    /// The access to key management services.
    pub key_network: Option<Arc<dyn Network>>,
    /// Whether query files count.
    pub queries: Queries,
    /// Whether called modules count.
    pub calls: Calls,
    /// The directory of test files, if they are loaded.
    pub tests: Option<TestFolder>,
    /// Whether the names in expressions are looked up.
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
            key_network: None,
            queries: Queries::default(),
            calls: Calls::default(),
            tests: None,
            references: References::default(),
        }
    }
}
