//! Flags of the commands that get a directory ready: `init` and `providers`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::assignments::Variables;
use super::flags::Flag;
use super::shared::{Common, JsonMessages, Locking, View};

/// The arguments of `init`.
#[derive(Args, Clone, Debug)]
pub struct Init {
    /// -backend=false leaves the backend alone
    #[arg(long)]
    pub backend: Option<Flag>,
    /// Alias of -backend
    #[arg(long, hide = true)]
    pub cloud: Option<Flag>,
    /// A setting of the backend, or a file with settings
    #[arg(long, value_name = "FILE|NAME=VALUE")]
    pub backend_config: Vec<String>,
    /// -get=false leaves the modules alone
    #[arg(long)]
    pub get: Option<Flag>,
    /// Begin with a copy of this module; the directory has to be empty
    #[arg(long, value_name = "ADDRESS")]
    pub from_module: Option<String>,
    /// Take newer versions where constraints allow it
    #[arg(long)]
    pub upgrade: Option<Flag>,
    /// Forget the previous backend
    #[arg(long)]
    pub reconfigure: Option<Flag>,
    /// Move the state when the backend changes
    #[arg(long)]
    pub migrate_state: Option<Flag>,
    /// Move the state without asking
    #[arg(long)]
    pub force_copy: Option<Flag>,
    /// Lock file mode: readonly
    #[arg(long, value_name = "MODE")]
    pub lockfile: Option<String>,
    /// A folder with provider packages
    #[arg(long, value_name = "DIR")]
    pub plugin_dir: Vec<PathBuf>,
    /// The folder with test files
    #[arg(long, value_name = "DIR")]
    pub test_directory: Option<PathBuf>,
    /// Accepted for remote backends that compare versions
    #[arg(long)]
    pub ignore_remote_version: Option<Flag>,
    /// Only experimental builds of Terraform take it
    #[arg(long, hide = true)]
    pub enable_pluggable_state_storage_experiment: Option<Flag>,
    /// As the other: -create-default-workspace=false is for experimental builds
    #[arg(long, hide = true)]
    pub create_default_workspace: Option<Flag>,
    /// -input=false never asks
    #[arg(long)]
    pub input: Option<Flag>,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// Options for values of variables
    #[command(flatten)]
    pub variables: Variables,
    /// Options for state locking
    #[command(flatten)]
    pub locking: Locking,
    /// Options for text output
    #[command(flatten)]
    pub view: View,
}

/// The arguments of `providers`.
#[derive(Args, Debug)]
pub struct Providers {
    /// A further command
    #[command(subcommand)]
    pub task: Option<ProvidersTask>,
    /// The folder with test files
    #[arg(long, value_name = "DIR")]
    pub test_directory: Option<PathBuf>,
    /// Variables and texts
    #[command(flatten)]
    pub common: Common,
}

impl Providers {
    /// The values of variables on the command line.
    pub fn variables(&self) -> &Variables {
        match &self.task {
            None => &self.common.variables,
            Some(ProvidersTask::Lock(arguments)) => &arguments.common.variables,
            Some(ProvidersTask::Mirror(arguments)) => &arguments.common.variables,
            Some(ProvidersTask::Schema(arguments)) => &arguments.common.variables,
        }
    }
}

/// The subcommands of `providers`.
#[derive(Debug, Subcommand)]
pub enum ProvidersTask {
    /// Write hashes of packages, for other platforms too, into the lock file
    Lock(ProvidersLock),
    /// Copy the packages that the configuration needs into a folder
    Mirror(ProvidersMirror),
    /// Print the schemas of the providers
    Schema(Schema),
}

/// Arguments of `providers lock`.
#[derive(Args, Clone, Debug)]
pub struct ProvidersLock {
    /// Take the packages from this folder
    #[arg(long, value_name = "DIR")]
    pub fs_mirror: Option<PathBuf>,
    /// Take the packages from this network mirror
    #[arg(long, value_name = "URL")]
    pub net_mirror: Option<String>,
    /// A platform such as linux_amd64; may be given several times
    #[arg(long, value_name = "OS_ARCH")]
    pub platform: Vec<String>,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// Use the plugin cache; hashes are taken from the sources all the same
    #[arg(long)]
    pub enable_plugin_cache: Option<Flag>,
    /// The folder with test files
    #[arg(long, value_name = "DIR")]
    pub test_directory: Option<PathBuf>,
    /// Variables and texts
    #[command(flatten)]
    pub common: Common,
    /// Only these providers
    #[arg(value_name = "PROVIDER")]
    pub rest: Vec<String>,
}

/// Arguments of `providers mirror`.
#[derive(Args, Clone, Debug)]
pub struct ProvidersMirror {
    /// A platform such as linux_amd64; may be given several times
    #[arg(long, value_name = "OS_ARCH")]
    pub platform: Vec<String>,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// -lock-file=false ignores the versions of the lock file
    #[arg(long)]
    pub lock_file: Option<Flag>,
    /// Variables and texts
    #[command(flatten)]
    pub common: Common,
    /// Directory for the copies
    #[arg(value_name = "DIR")]
    pub rest: Vec<PathBuf>,
}

/// Arguments of `providers schema`.
#[derive(Args, Clone, Debug)]
pub struct Schema {
    /// Print JSON; there is no other form
    #[arg(long)]
    pub json: Option<Flag>,
    /// Variables and texts
    #[command(flatten)]
    pub common: Common,
}
