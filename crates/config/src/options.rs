//! What loading a configuration needs to be told.

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
    /// They are left alone.
    #[default]
    LeftOut,
    /// They are read.
    Read,
}

/// Whether the names in expressions are looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum References {
    /// Those of what there is not are errors.
    #[default]
    Checked,
    /// For whoever evaluates nothing but opens a state: of all names that of its backend matters.
    OfBackend,
    /// For whoever evaluates nothing: what they name does not matter.
    LeftAlone,
}

/// Whether the modules that the root module calls are part of the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Calls {
    /// They are read.
    #[default]
    Followed,
    /// They are left alone, for whoever only wants to know what the root module says.
    LeftAlone,
}

/// Where files of tests are, beside those next to the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestFolder {
    /// Where they are if nobody says otherwise; it need not be there.
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

/// How to load a configuration.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// The folder of the root module; where the command works if it is empty.
    pub directory: PathBuf,
    /// Where the program was started, for module sources and constants that name `path.cwd`.
    pub working_directory: PathBuf,
    /// The Terraform version that `required_version` of `.tf` files is held against.
    pub terraform_version: Version,
    /// The OpenTofu version that `required_version` of `.tofu` files is held against.
    pub opentofu_version: Version,
    /// The registry host of provider sources that name none.
    pub default_registry: Name,
    /// Where installed modules and their manifest are, relative to the root module's directory or absolute.
    pub data_directory: PathBuf,
    /// Where values of root variables come from, for module sources and versions that depend on them.
    pub variables: VariableSources,
    /// Values of root variables that are known already; they count more.
    pub early_variables: IndexMap<Name, Value>,
    /// The workspace, for backends and module sources that depend on it.
    pub workspace: String,
    /// What the environment says in place of the encryption block: `TF_ENCRYPTION`.
    pub encryption: Option<String>,
    /// How services that keep keys are spoken with.
    pub key_network: Option<Arc<dyn Network>>,
    /// Whether query files count.
    pub queries: Queries,
    /// Whether called modules count.
    pub calls: Calls,
    /// Where files of tests are, for whoever has to do with them.
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
