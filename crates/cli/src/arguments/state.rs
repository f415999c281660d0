//! Arguments of the commands that change single objects of the state: `state` and its subcommands, `import`, `taint` and
//! `untaint`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::flags::{Flag, Variables};
use super::shared::{Common, JsonDocument, JsonMessages, Secrets, StateAccess, Writing};

#[derive(Debug, Subcommand)]
pub enum State {
    /// List the resource identities in the state, as JSON
    Identities(StateIdentities),
    /// List the resource instances in the state
    List(StateList),
    /// Move an item in the state to a new address
    Mv(StateMv),
    /// Print the state as JSON
    Pull(StatePull),
    /// Replace the state with the contents of a file
    Push(StatePush),
    /// Replace the provider of resources in the state
    ReplaceProvider(StateReplaceProvider),
    /// Remove items from the state without destroying the real objects
    Rm(StateRm),
    /// Let runs that change different objects of the state work at the same time
    #[command(subcommand)]
    Sharing(StateSharing),
    /// Show a resource instance in the state
    Show(StateShow),
}

impl State {
    /// Returns the values of input variables on the command line.
    pub fn variables(&self) -> Option<&Variables> {
        match self {
            Self::Identities(arguments) => Some(&arguments.list.common.variables),
            Self::List(arguments) => Some(&arguments.common.variables),
            Self::Show(arguments) => Some(&arguments.common.variables),
            Self::Sharing(StateSharing::Show(arguments)) => Some(&arguments.common.variables),
            Self::Sharing(StateSharing::Enable(arguments) | StateSharing::Disable(arguments)) => {
                Some(&arguments.access.common.variables)
            }
            Self::Mv(arguments) => Some(&arguments.change.access.common.variables),
            Self::Rm(arguments) => Some(&arguments.change.access.common.variables),
            Self::ReplaceProvider(arguments) => Some(&arguments.change.access.common.variables),
            Self::Pull(arguments) => Some(&arguments.common.variables),
            Self::Push(arguments) => Some(&arguments.access.common.variables),
        }
    }
}

#[derive(Args, Clone, Debug)]
pub struct StateList {
    /// Read this state file instead of the backend
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// List only instances with this ID
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    #[command(flatten)]
    pub json: JsonMessages,
    #[command(flatten)]
    pub common: Common,
    /// List only instances at or below these addresses
    #[arg(value_name = "ADDRESS")]
    pub addresses: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct StateIdentities {
    #[command(flatten)]
    pub list: StateList,
}

#[derive(Clone, Debug, Subcommand)]
pub enum StateSharing {
    /// Share the state: runs claim the objects that they change
    Enable(StateSharingChange),
    /// Give the state back to one run at a time
    Disable(StateSharingChange),
    /// Show whether the state is shared, its runs, and their latest changes
    Show(StateSharingShow),
}

#[derive(Args, Clone, Debug)]
pub struct StateSharingChange {
    #[command(flatten)]
    pub json: JsonMessages,
    #[command(flatten)]
    pub access: StateAccess,
}

#[derive(Args, Clone, Debug)]
pub struct StateSharingShow {
    #[command(flatten)]
    pub common: Common,
}

#[derive(Args, Clone, Debug)]
pub struct StateShow {
    #[command(flatten)]
    pub json: JsonDocument,
    #[command(flatten)]
    pub secrets: Secrets,
    /// Read this state file instead of the backend
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
    /// Address of the resource instance
    #[arg(value_name = "ADDRESS")]
    pub rest: Vec<String>,
}

/// Flags of the subcommands that change the state in place.
#[derive(Args, Clone, Debug)]
pub struct StateChange {
    /// Use this state file instead of the backend
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Write the backup of the previous state to this file
    #[arg(long, value_name = "FILE")]
    pub backup: Option<PathBuf>,
    #[command(flatten)]
    pub json: JsonMessages,
    #[command(flatten)]
    pub access: StateAccess,
}

#[derive(Args, Clone, Debug)]
pub struct StateMv {
    /// Show what would be moved, without moving it
    #[arg(long)]
    pub dry_run: Option<Flag>,
    /// Move the item to this state file
    #[arg(long, value_name = "FILE")]
    pub state_out: Option<PathBuf>,
    /// Write the backup of the -state-out file to this file
    #[arg(long, value_name = "FILE")]
    pub backup_out: Option<PathBuf>,
    #[command(flatten)]
    pub change: StateChange,
    // Both addresses in one list: with the wrong number of them, the error is the command's own, as in Terraform.
    /// Current address and new address
    #[arg(value_name = "SOURCE DESTINATION")]
    pub rest: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct StateRm {
    /// Show what would be removed, without removing it
    #[arg(long)]
    pub dry_run: Option<Flag>,
    #[command(flatten)]
    pub change: StateChange,
    /// Addresses to remove
    #[arg(value_name = "ADDRESS")]
    pub addresses: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct StateReplaceProvider {
    /// Replace without asking for approval
    #[arg(long)]
    pub auto_approve: Option<Flag>,
    #[command(flatten)]
    pub change: StateChange,
    /// Current provider and new provider
    #[arg(value_name = "FROM TO")]
    pub rest: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct StatePull {
    #[command(flatten)]
    pub common: Common,
    // Accepted here to be rejected by the command, with Terraform's message.
    #[arg(hide = true)]
    pub rest: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct StatePush {
    /// Write the state even if its serial is lower or its lineage differs
    #[arg(long)]
    pub force: Option<Flag>,
    #[command(flatten)]
    pub json: JsonMessages,
    #[command(flatten)]
    pub access: StateAccess,
    /// File that holds the state, or "-" for standard input
    #[arg(value_name = "PATH")]
    pub rest: Vec<PathBuf>,
}

#[derive(Args, Clone, Debug)]
pub struct ImportArguments {
    /// Directory of the configuration that declares the resource and its provider
    #[arg(long, value_name = "DIR")]
    pub config: Option<PathBuf>,
    /// Accepted for compatibility; only remote backends compare versions
    #[arg(long)]
    pub ignore_remote_version: Option<Flag>,
    /// Limit the number of concurrent operations
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub parallelism: i64,
    /// Use -input=false to never prompt for input
    #[arg(long)]
    pub input: Option<Flag>,
    #[command(flatten)]
    pub json: JsonMessages,
    #[command(flatten)]
    pub writing: Writing,
    // After the address everything belongs to the ID, which may begin with a dash.
    /// Address of the resource instance, and import ID of the object
    #[arg(value_name = "ADDR ID", trailing_var_arg = true)]
    pub rest: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct Taint {
    /// Succeed even if the instance does not exist
    #[arg(long)]
    pub allow_missing: Option<Flag>,
    /// Accepted for compatibility; only remote backends compare versions
    #[arg(long)]
    pub ignore_remote_version: Option<Flag>,
    #[command(flatten)]
    pub json: JsonMessages,
    #[command(flatten)]
    pub writing: Writing,
    /// Address of the resource instance
    #[arg(value_name = "ADDRESS")]
    pub rest: Vec<String>,
}
