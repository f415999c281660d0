//! `workspace`, its commands, and `force-unlock`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::assignments::Variables;
use super::flags::Flag;
use super::shared::{JsonMessages, Locking, View};

/// Commands of `workspace`.
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
    /// Where the values of variables come from
    #[command(flatten)]
    pub variables: Variables,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
    /// Nothing may follow
    #[arg(hide = true)]
    pub rest: Vec<String>,
}

/// Arguments of `workspace show`.
#[derive(Args, Clone, Debug)]
pub struct WorkspaceShow {
    /// Where the values of variables come from
    #[command(flatten)]
    pub variables: Variables,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
    /// Nothing else is looked at
    #[arg(hide = true)]
    pub rest: Vec<String>,
}

/// Arguments of `workspace new`.
#[derive(Args, Clone, Debug)]
pub struct WorkspaceNew {
    /// Where the values of variables come from
    #[command(flatten)]
    pub variables: Variables,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// A state file that the workspace begins with
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// How the state is locked
    #[command(flatten)]
    pub locking: Locking,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
    /// The name of the workspace
    #[arg(value_name = "NAME")]
    pub rest: Vec<String>,
}

/// Arguments of `workspace select`.
#[derive(Args, Clone, Debug)]
pub struct WorkspaceSelect {
    /// Where the values of variables come from
    #[command(flatten)]
    pub variables: Variables,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// Make the workspace if there is none of that name
    #[arg(long)]
    pub or_create: Option<Flag>,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
    /// The name of the workspace
    #[arg(value_name = "NAME")]
    pub rest: Vec<String>,
}

/// Arguments of `workspace delete`.
#[derive(Args, Clone, Debug)]
pub struct WorkspaceDelete {
    /// Where the values of variables come from
    #[command(flatten)]
    pub variables: Variables,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// Delete it although it manages objects, which are then no longer managed
    #[arg(long)]
    pub force: Option<Flag>,
    /// How the state is locked
    #[command(flatten)]
    pub locking: Locking,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
    /// The name of the workspace
    #[arg(value_name = "NAME")]
    pub rest: Vec<String>,
}

/// Arguments of `force-unlock`.
#[derive(Args, Clone, Debug)]
pub struct ForceUnlock {
    /// Where the values of variables come from
    #[command(flatten)]
    pub variables: Variables,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// Do not ask
    #[arg(long)]
    pub force: Option<Flag>,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
    /// The name of the lock
    #[arg(value_name = "LOCK_ID")]
    pub rest: Vec<String>,
}
