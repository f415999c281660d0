//! `workspace`, its commands, and `force-unlock`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::assignments::Variables;
use super::flags::Flag;
use super::shared::{JsonMessages, Locking, View};

/// The subcommands of `workspace`.
#[derive(Debug, Subcommand)]
pub enum Workspace {
    /// Delete a workspace with its state
    Delete(WorkspaceDelete),
    /// List the workspaces
    List(WorkspaceList),
    /// Make a workspace and select it
    New(WorkspaceNew),
    /// Use another workspace from now on
    Select(WorkspaceSelect),
    /// Show the name of the selected workspace
    Show(WorkspaceShow),
}

impl Workspace {
    /// The values of variables on the command line.
    pub fn variables(&self) -> &Variables {
        match self {
            Self::Delete(arguments) => &arguments.variables,
            Self::List(arguments) => &arguments.variables,
            Self::New(arguments) => &arguments.variables,
            Self::Select(arguments) => &arguments.variables,
            Self::Show(arguments) => &arguments.variables,
        }
    }
}

/// Arguments of `workspace list`.
#[derive(Args, Clone, Debug)]
pub struct WorkspaceList {
    /// Options for values of variables
    #[command(flatten)]
    pub variables: Variables,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// Options for text output
    #[command(flatten)]
    pub view: View,
    /// Nothing may follow
    #[arg(hide = true)]
    pub rest: Vec<String>,
}

/// Arguments of `workspace show`.
#[derive(Args, Clone, Debug)]
pub struct WorkspaceShow {
    /// Options for values of variables
    #[command(flatten)]
    pub variables: Variables,
    /// Options for text output
    #[command(flatten)]
    pub view: View,
    /// Positional arguments; none are expected
    #[arg(hide = true)]
    pub rest: Vec<String>,
}

/// Arguments of `workspace new`.
#[derive(Args, Clone, Debug)]
pub struct WorkspaceNew {
    /// Options for values of variables
    #[command(flatten)]
    pub variables: Variables,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// A state file that the workspace begins with
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Options for state locking
    #[command(flatten)]
    pub locking: Locking,
    /// Options for text output
    #[command(flatten)]
    pub view: View,
    /// The name of the workspace
    #[arg(value_name = "NAME")]
    pub rest: Vec<String>,
}

/// Arguments of `workspace select`.
#[derive(Args, Clone, Debug)]
pub struct WorkspaceSelect {
    /// Options for values of variables
    #[command(flatten)]
    pub variables: Variables,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// Create the workspace if it does not exist
    #[arg(long)]
    pub or_create: Option<Flag>,
    /// Options for text output
    #[command(flatten)]
    pub view: View,
    /// The name of the workspace
    #[arg(value_name = "NAME")]
    pub rest: Vec<String>,
}

/// Arguments of `workspace delete`.
#[derive(Args, Clone, Debug)]
pub struct WorkspaceDelete {
    /// Options for values of variables
    #[command(flatten)]
    pub variables: Variables,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// Delete it although it manages objects, which are then no longer managed
    #[arg(long)]
    pub force: Option<Flag>,
    /// Options for state locking
    #[command(flatten)]
    pub locking: Locking,
    /// Options for text output
    #[command(flatten)]
    pub view: View,
    /// The name of the workspace
    #[arg(value_name = "NAME")]
    pub rest: Vec<String>,
}

/// The arguments of `force-unlock`.
#[derive(Args, Clone, Debug)]
pub struct ForceUnlock {
    /// Options for values of variables
    #[command(flatten)]
    pub variables: Variables,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// Do not ask
    #[arg(long)]
    pub force: Option<Flag>,
    /// Options for text output
    #[command(flatten)]
    pub view: View,
    /// The name of the lock
    #[arg(value_name = "LOCK_ID")]
    pub rest: Vec<String>,
}
