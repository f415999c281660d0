//! Flags of the commands that plan and apply.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::assignments::Variables;
use super::flags::Flag;
use super::shared::{JsonMessages, Locking, Secrets, View, Writing};

/// The planning options.
#[derive(Args, Clone, Debug)]
pub struct Planning {
    /// Plan to delete everything
    #[arg(long)]
    pub destroy: Option<Flag>,
    /// Plan only the update of the state to match real objects
    #[arg(long)]
    pub refresh_only: Option<Flag>,
    /// Skip reading real objects; plan from the stored state (-refresh=false)
    #[arg(long)]
    pub refresh: Option<Flag>,
    /// Replace this instance regardless of its configuration; may be given more than once
    #[arg(long, value_name = "ADDRESS")]
    pub replace: Vec<String>,
    /// Look only at this and what it depends on; may be given more than once
    #[arg(long, value_name = "ADDRESS")]
    pub target: Vec<String>,
    /// Options for partial plans
    #[command(flatten)]
    pub focus: Focus,
    /// Invoke this action, and do nothing else
    #[arg(long, value_name = "ACTION")]
    pub invoke: Vec<String>,
    /// Leave to a later run what depends on values that are not known yet, instead of stopping
    #[arg(long)]
    pub allow_deferral: Option<Flag>,
    /// Number of concurrent operations
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub parallelism: i64,
    /// Options for values of variables
    #[command(flatten)]
    pub variables: Variables,
    /// Options for state locking
    #[command(flatten)]
    pub locking: Locking,
    /// -input=false never asks
    #[arg(long)]
    pub input: Option<Flag>,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// State file to use instead of the backend's
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Whether secrets are shown
    #[command(flatten)]
    pub secrets: Secrets,
    /// Options for text output
    #[command(flatten)]
    pub view: View,
}

/// The arguments of `plan`.
#[derive(Args, Clone, Debug)]
pub struct Plan {
    /// Options for planning
    #[command(flatten)]
    pub planning: Planning,
    /// Save the plan for apply
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write resource blocks for import blocks without one to this new file
    #[arg(long, value_name = "FILE")]
    pub generate_config_out: Option<PathBuf>,
    /// Exit with 2 when there is something to apply
    #[arg(long)]
    pub detailed_exitcode: Option<Flag>,
    /// Nothing else may follow
    #[arg(hide = true)]
    pub rest: Vec<OsString>,
}

/// The arguments of `apply`.
#[derive(Args, Clone, Debug)]
pub struct Apply {
    /// Options for planning
    #[command(flatten)]
    pub planning: Planning,
    /// Do not ask before changing anything
    #[arg(long)]
    pub auto_approve: Option<Flag>,
    /// Backup file of the previous state, or - for none
    #[arg(long, value_name = "FILE")]
    pub backup: Option<PathBuf>,
    /// Output file for the new state
    #[arg(long, value_name = "FILE")]
    pub state_out: Option<PathBuf>,
    /// Accepted: that a destroy leaves behind what is to be kept is no error
    #[arg(long)]
    pub suppress_forget_errors: Option<Flag>,
    /// A saved plan
    #[arg(value_name = "PLAN")]
    pub rest: Vec<OsString>,
}

/// The arguments of `destroy`.
#[derive(Args, Clone, Debug)]
pub struct Destroy {
    /// As for apply
    #[command(flatten)]
    pub apply: Apply,
}

/// The options for partial plans, with those of OpenTofu.
#[derive(Args, Clone, Debug, Default)]
pub struct Focus {
    /// Look only at what this file names, one address a line, as with -target
    #[arg(long, value_name = "FILE")]
    pub target_file: Vec<PathBuf>,
    /// Exclude this resource and everything that depends on it; may be given more than once
    #[arg(long, value_name = "ADDRESS")]
    pub exclude: Vec<String>,
    /// Exclude the addresses in this file, one per line, as with -exclude
    #[arg(long, value_name = "FILE")]
    pub exclude_file: Vec<PathBuf>,
}

impl Focus {
    /// Whether no such option is given.
    pub fn is_empty(&self) -> bool {
        self.target_file.is_empty() && self.exclude.is_empty() && self.exclude_file.is_empty()
    }
}

/// The arguments of `refresh`.
#[derive(Args, Clone, Debug)]
pub struct Refresh {
    /// Look only at this and what it depends on; may be given more than once
    #[arg(long, value_name = "ADDRESS")]
    pub target: Vec<String>,
    /// Options for partial plans
    #[command(flatten)]
    pub focus: Focus,
    /// Leave out what depends on values that are not known yet, instead of stopping
    #[arg(long)]
    pub allow_deferral: Option<Flag>,
    /// Number of concurrent operations
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub parallelism: i64,
    /// -input=false never asks
    #[arg(long)]
    pub input: Option<Flag>,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// The state and what it takes to write it
    #[command(flatten)]
    pub writing: Writing,
    /// Nothing else may follow
    #[arg(hide = true)]
    pub rest: Vec<OsString>,
}

impl Refresh {
    /// The apply that does the same: one that only takes in what has changed outside, and asks nobody.
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
            auto_approve: Some(Flag::On),
            backup: files.backup,
            state_out: files.state_out,
            suppress_forget_errors: None,
            rest: self.rest,
        }
    }
}
