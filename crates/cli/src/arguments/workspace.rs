//! Arguments of `workspace`, its subcommands, and `force-unlock`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::flags::{Flag, Variables};
use super::shared::{JsonMessages, Locking, View};

#[derive(Debug, Subcommand)]
pub enum Workspace {
    /// Delete a workspace and its state
    Delete(WorkspaceDelete),
    /// List all workspaces
    List(WorkspaceList),
    /// Create a workspace and switch to it
    New(WorkspaceNew),
    /// Switch to another workspace
    Select(WorkspaceSelect),
    /// Show the name of the current workspace
    Show(WorkspaceShow),
}

impl Workspace {
    /// Returns the values of input variables on the command line.
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

#[derive(Args, Clone, Debug)]
pub struct WorkspaceList {
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub json: JsonMessages,
    #[command(flatten)]
    pub view: View,
    #[arg(hide = true)]
    pub rest: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct WorkspaceShow {
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub view: View,
    #[arg(hide = true)]
    pub rest: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct WorkspaceNew {
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub json: JsonMessages,
    /// Initialize the workspace with a copy of this state file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    #[command(flatten)]
    pub locking: Locking,
    #[command(flatten)]
    pub view: View,
    /// Name of the workspace
    #[arg(value_name = "NAME")]
    pub rest: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct WorkspaceSelect {
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub json: JsonMessages,
    /// Create the workspace if it does not exist
    #[arg(long)]
    pub or_create: Option<Flag>,
    #[command(flatten)]
    pub view: View,
    /// Name of the workspace
    #[arg(value_name = "NAME")]
    pub rest: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct WorkspaceDelete {
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub json: JsonMessages,
    /// Delete the workspace even if its state tracks objects, which are then no longer managed
    #[arg(long)]
    pub force: Option<Flag>,
    #[command(flatten)]
    pub locking: Locking,
    #[command(flatten)]
    pub view: View,
    /// Name of the workspace
    #[arg(value_name = "NAME")]
    pub rest: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct ForceUnlock {
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub json: JsonMessages,
    /// Unlock without asking for confirmation
    #[arg(long)]
    pub force: Option<Flag>,
    #[command(flatten)]
    pub view: View,
    /// ID of the lock, from the error message about the lock
    #[arg(value_name = "LOCK_ID")]
    pub rest: Vec<String>,
}
