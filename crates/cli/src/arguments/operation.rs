//! Arguments of the commands that plan, apply and query.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::flags::{Flag, Variables};
use super::shared::{JsonMessages, Locking, Secrets, View, Writing};

/// Flags that control planning.
#[derive(Args, Clone, Debug)]
pub struct Planning {
    /// Plan the destruction of all objects
    #[arg(long)]
    pub destroy: Option<Flag>,
    /// Only update the state and outputs to match real objects
    #[arg(long)]
    pub refresh_only: Option<Flag>,
    /// Use -refresh=false to skip reading real objects and plan from the stored state
    #[arg(long)]
    pub refresh: Option<Flag>,
    /// Replace this resource instance even if it has no changes; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    pub replace: Vec<String>,
    /// Limit the operation to this address and its dependencies; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    pub target: Vec<String>,
    #[command(flatten)]
    pub focus: Focus,
    /// Only invoke this action
    #[arg(long, value_name = "ACTION")]
    pub invoke: Vec<String>,
    /// Defer changes that depend on unknown values to a later run, instead of failing
    #[arg(long)]
    pub allow_deferral: Option<Flag>,
    /// Limit the number of concurrent operations
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub parallelism: i64,
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub locking: Locking,
    /// Use -input=false to never prompt for input
    #[arg(long)]
    pub input: Option<Flag>,
    #[command(flatten)]
    pub json: JsonMessages,
    /// Use this state file instead of the backend
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    #[command(flatten)]
    pub secrets: Secrets,
    #[command(flatten)]
    pub view: View,
}

#[derive(Args, Clone, Debug)]
pub struct Plan {
    #[command(flatten)]
    pub planning: Planning,
    /// Write the plan to this file, for apply
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Generate configuration for imported resources that have none, in this new file
    #[arg(long, value_name = "FILE")]
    pub generate_config_out: Option<PathBuf>,
    /// Show the patch that each update of an AWS Cloud Control resource sends
    #[arg(long)]
    pub show_patch: Option<Flag>,
    /// Return detailed exit codes: 0 for no changes, 1 for an error, 2 for changes
    #[arg(long)]
    pub detailed_exitcode: Option<Flag>,
    #[arg(hide = true)]
    pub rest: Vec<OsString>,
}

#[derive(Args, Clone, Debug)]
pub struct Apply {
    #[command(flatten)]
    pub planning: Planning,
    /// Apply without asking for approval
    #[arg(long)]
    pub auto_approve: Option<Flag>,
    /// Write the backup of the previous state to this file; "-" disables the backup
    #[arg(long, value_name = "FILE")]
    pub backup: Option<PathBuf>,
    /// Write the new state to this file
    #[arg(long, value_name = "FILE")]
    pub state_out: Option<PathBuf>,
    /// Accepted for compatibility; objects that a destroy only forgets never cause an error
    #[arg(long)]
    pub suppress_forget_errors: Option<Flag>,
    /// File of a saved plan
    #[arg(value_name = "PLAN")]
    pub rest: Vec<OsString>,
}

#[derive(Args, Clone, Debug)]
pub struct Destroy {
    #[command(flatten)]
    pub apply: Apply,
}

/// OpenTofu's flags that limit a plan to some resources.
#[derive(Args, Clone, Debug, Default)]
pub struct Focus {
    /// Limit the operation to the addresses in this file, one per line, as -target does
    #[arg(long, value_name = "FILE")]
    pub target_file: Vec<PathBuf>,
    /// Exclude this address and everything that depends on it; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    pub exclude: Vec<String>,
    /// Exclude the addresses in this file, one per line, as -exclude does
    #[arg(long, value_name = "FILE")]
    pub exclude_file: Vec<PathBuf>,
}

impl Focus {
    /// Whether none of these flags is set.
    pub fn is_empty(&self) -> bool {
        self.target_file.is_empty() && self.exclude.is_empty() && self.exclude_file.is_empty()
    }
}

#[derive(Args, Clone, Debug)]
pub struct Refresh {
    /// Limit the operation to this address and its dependencies; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    pub target: Vec<String>,
    #[command(flatten)]
    pub focus: Focus,
    /// Skip objects that depend on unknown values, instead of failing
    #[arg(long)]
    pub allow_deferral: Option<Flag>,
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
    #[arg(hide = true)]
    pub rest: Vec<OsString>,
}

impl Refresh {
    /// Converts to the equivalent `apply -refresh-only -auto-approve`.
    pub fn into_apply(self) -> Apply {
        let Writing { files, variables, locking, view } = self.writing;
        let planning = Planning {
            destroy: None,
            refresh_only: Some(Flag::On),
            refresh: None,
            replace: Vec::new(),
            invoke: Vec::new(),
            allow_deferral: self.allow_deferral,
            target: self.target,
            focus: self.focus,
            parallelism: self.parallelism,
            variables,
            locking,
            input: self.input,
            json: self.json,
            state: files.state,
            secrets: Secrets::default(),
            view,
        };
        Apply {
            planning,
            // refresh never asks: it changes no real object.
            auto_approve: Some(Flag::On),
            backup: files.backup,
            state_out: files.state_out,
            suppress_forget_errors: None,
            rest: self.rest,
        }
    }
}

#[derive(Args, Clone, Debug)]
pub struct Query {
    #[command(flatten)]
    pub variables: Variables,
    /// Generate resource and import blocks for the found objects in this new file
    #[arg(long, value_name = "FILE")]
    pub generate_config_out: Option<PathBuf>,
    /// Print machine-readable output: one JSON message per line
    #[arg(long)]
    pub json: Option<Flag>,
    #[command(flatten)]
    pub view: View,
    #[arg(hide = true)]
    pub rest: Vec<OsString>,
}
