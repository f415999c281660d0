//! `state` and its commands.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::assignments::Variables;
use super::flags::Flag;
use super::shared::{Common, JsonDocument, JsonMessages, Secrets, StateAccess};

/// The subcommands of `state`.
#[derive(Debug, Subcommand)]
pub enum State {
    /// List the identities of the instances, as JSON
    Identities(StateIdentities),
    /// List the addresses of the instances
    List(StateList),
    /// Give something in the state another address
    Mv(StateMv),
    /// Print the state
    Pull(StatePull),
    /// Replace the state by one from a file
    Push(StatePush),
    /// Let another provider manage what one provider manages
    ReplaceProvider(StateReplaceProvider),
    /// Forget something without destroying it
    Rm(StateRm),
    /// Show one instance
    Show(StateShow),
}

impl State {
    /// The values of variables on the command line.
    pub fn variables(&self) -> Option<&Variables> {
        match self {
            Self::Identities(_) => None,
            Self::List(arguments) => Some(&arguments.common.variables),
            Self::Show(arguments) => Some(&arguments.common.variables),
            Self::Mv(arguments) => Some(&arguments.change.access.common.variables),
            Self::Rm(arguments) => Some(&arguments.change.access.common.variables),
            Self::ReplaceProvider(arguments) => Some(&arguments.change.access.common.variables),
            Self::Pull(arguments) => Some(&arguments.common.variables),
            Self::Push(arguments) => Some(&arguments.access.common.variables),
        }
    }
}

/// Arguments of `state list`.
#[derive(Args, Clone, Debug)]
pub struct StateList {
    /// The state file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Only instances whose id this is
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// Variables and texts
    #[command(flatten)]
    pub common: Common,
    /// Only these addresses and what is in them
    #[arg(value_name = "ADDRESS")]
    pub addresses: Vec<String>,
}

/// Arguments of `state identities`.
#[derive(Args, Clone, Debug)]
pub struct StateIdentities {
    /// Options for the listing
    #[command(flatten)]
    pub list: StateList,
}

/// Arguments of `state show`.
#[derive(Args, Clone, Debug)]
pub struct StateShow {
    /// The result for programs
    #[command(flatten)]
    pub json: JsonDocument,
    /// Whether secrets are shown
    #[command(flatten)]
    pub secrets: Secrets,
    /// The state file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Variables and texts
    #[command(flatten)]
    pub common: Common,
    /// The instance
    #[arg(value_name = "ADDRESS")]
    pub rest: Vec<String>,
}

/// The arguments that subcommands share which change a state.
#[derive(Args, Clone, Debug)]
pub struct StateChange {
    /// State file to use instead of the backend's
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Backup file of the previous state
    #[arg(long, value_name = "FILE")]
    pub backup: Option<PathBuf>,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// Options for access to the state
    #[command(flatten)]
    pub access: StateAccess,
}

/// Arguments of `state mv`.
#[derive(Args, Clone, Debug)]
pub struct StateMv {
    /// Only say what would be moved
    #[arg(long)]
    pub dry_run: Option<Flag>,
    /// Another state file to move to
    #[arg(long, value_name = "FILE")]
    pub state_out: Option<PathBuf>,
    /// Backup file of the previous destination state
    #[arg(long, value_name = "FILE")]
    pub backup_out: Option<PathBuf>,
    /// Options for the change
    #[command(flatten)]
    pub change: StateChange,
    /// The address now, and the address to be
    #[arg(value_name = "SOURCE DESTINATION")]
    pub rest: Vec<String>,
}

/// Arguments of `state rm`.
#[derive(Args, Clone, Debug)]
pub struct StateRm {
    /// Only say what would be removed
    #[arg(long)]
    pub dry_run: Option<Flag>,
    /// Options for the change
    #[command(flatten)]
    pub change: StateChange,
    /// Addresses to forget
    #[arg(value_name = "ADDRESS")]
    pub addresses: Vec<String>,
}

/// Arguments of `state replace-provider`.
#[derive(Args, Clone, Debug)]
pub struct StateReplaceProvider {
    /// Do not ask before changing anything
    #[arg(long)]
    pub auto_approve: Option<Flag>,
    /// Options for the change
    #[command(flatten)]
    pub change: StateChange,
    /// The provider now, and the provider to be
    #[arg(value_name = "FROM TO")]
    pub rest: Vec<String>,
}

/// Arguments of `state pull`.
#[derive(Args, Clone, Debug)]
pub struct StatePull {
    /// Variables and texts
    #[command(flatten)]
    pub common: Common,
    /// Positional arguments; none are expected
    #[arg(hide = true)]
    pub rest: Vec<String>,
}

/// Arguments of `state push`.
#[derive(Args, Clone, Debug)]
pub struct StatePush {
    /// Write the state even if it is older, or of another lineage
    #[arg(long)]
    pub force: Option<Flag>,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// Options for access to the state
    #[command(flatten)]
    pub access: StateAccess,
    /// The file with the state, or - for standard input
    #[arg(value_name = "PATH")]
    pub rest: Vec<PathBuf>,
}
