//! Arguments of the commands that install modules and providers, `init` and `providers`, and of `login` and `logout`
//! for the hosts that serve them.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::flags::{Flag, Variables};
use super::shared::{Common, JsonMessages, Locking, View};

#[derive(Args, Clone, Debug)]
pub struct Init {
    /// Use -backend=false to skip initializing the backend
    #[arg(long)]
    pub backend: Option<Flag>,
    /// Alias of -backend
    #[arg(long, hide = true)]
    pub cloud: Option<Flag>,
    /// Set an argument of the backend, or read arguments from a file; may be repeated
    #[arg(long, value_name = "FILE|NAME=VALUE")]
    pub backend_config: Vec<String>,
    /// Use -get=false to skip installing modules
    #[arg(long)]
    pub get: Option<Flag>,
    /// Copy this module into the working directory first, which must be empty
    #[arg(long, value_name = "ADDRESS")]
    pub from_module: Option<String>,
    /// Upgrade modules and providers to the newest versions that the constraints allow
    #[arg(long)]
    pub upgrade: Option<Flag>,
    /// Ignore the previous backend, without migrating its state
    #[arg(long)]
    pub reconfigure: Option<Flag>,
    /// Migrate the state to the new backend
    #[arg(long)]
    pub migrate_state: Option<Flag>,
    /// Migrate the state without asking for confirmation
    #[arg(long)]
    pub force_copy: Option<Flag>,
    /// Set the mode of the dependency lock file; "readonly" forbids changing it
    #[arg(long, value_name = "MODE")]
    pub lockfile: Option<String>,
    /// Install providers only from this directory; may be repeated
    #[arg(long, value_name = "DIR")]
    pub plugin_dir: Vec<PathBuf>,
    /// Directory of the test files, if it is not "tests"
    #[arg(long, value_name = "DIR")]
    pub test_directory: Option<PathBuf>,
    /// Accepted for compatibility; only remote backends compare versions
    #[arg(long)]
    pub ignore_remote_version: Option<Flag>,
    /// Rejected: exists only in experimental builds of Terraform
    #[arg(long, hide = true)]
    pub enable_pluggable_state_storage_experiment: Option<Flag>,
    /// Rejected when false: exists only in experimental builds of Terraform
    #[arg(long, hide = true)]
    pub create_default_workspace: Option<Flag>,
    /// Use -input=false to never prompt for input
    #[arg(long)]
    pub input: Option<Flag>,
    #[command(flatten)]
    pub json: JsonMessages,
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub locking: Locking,
    #[command(flatten)]
    pub view: View,
}

#[derive(Args, Debug)]
pub struct Providers {
    /// A further command
    #[command(subcommand)]
    pub task: Option<ProvidersTask>,
    /// Directory of the test files, if it is not "tests"
    #[arg(long, value_name = "DIR")]
    pub test_directory: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

impl Providers {
    /// Returns the values of input variables on the command line.
    pub fn variables(&self) -> &Variables {
        match &self.task {
            None => &self.common.variables,
            Some(ProvidersTask::Lock(arguments)) => &arguments.common.variables,
            Some(ProvidersTask::Mirror(arguments)) => &arguments.common.variables,
            Some(ProvidersTask::Schema(arguments)) => &arguments.common.variables,
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum ProvidersTask {
    /// Write checksums of provider packages, also for other platforms, to the dependency lock file
    Lock(ProvidersLock),
    /// Copy the required provider packages to a directory
    Mirror(ProvidersMirror),
    /// Print the schemas of the required providers
    Schema(Schema),
}

#[derive(Args, Clone, Debug)]
pub struct ProvidersLock {
    /// Read packages from this directory instead of their registries
    #[arg(long, value_name = "DIR")]
    pub fs_mirror: Option<PathBuf>,
    /// Read packages from this network mirror instead of their registries
    #[arg(long, value_name = "URL")]
    pub net_mirror: Option<String>,
    /// Target platform such as linux_amd64; may be repeated
    #[arg(long, value_name = "OS_ARCH")]
    pub platform: Vec<String>,
    #[command(flatten)]
    pub json: JsonMessages,
    /// Accepted for compatibility; the plugin cache may be used, and checksums always come from the sources
    #[arg(long)]
    pub enable_plugin_cache: Option<Flag>,
    /// Directory of the test files, if it is not "tests"
    #[arg(long, value_name = "DIR")]
    pub test_directory: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
    /// Lock only these providers
    #[arg(value_name = "PROVIDER")]
    pub rest: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct ProvidersMirror {
    /// Target platform such as linux_amd64; may be repeated
    #[arg(long, value_name = "OS_ARCH")]
    pub platform: Vec<String>,
    #[command(flatten)]
    pub json: JsonMessages,
    /// Use -lock-file=false to ignore the versions in the dependency lock file
    #[arg(long)]
    pub lock_file: Option<Flag>,
    #[command(flatten)]
    pub common: Common,
    /// Directory to copy the packages to
    #[arg(value_name = "DIR")]
    pub rest: Vec<PathBuf>,
}

#[derive(Args, Clone, Debug)]
pub struct Schema {
    /// Print JSON (required)
    #[arg(long)]
    pub json: Option<Flag>,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Args, Clone, Debug)]
pub struct Login {
    #[command(flatten)]
    pub view: View,
    /// Hostname of the service
    #[arg(value_name = "HOST", default_value = "app.terraform.io")]
    pub host: String,
}
