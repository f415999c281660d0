//! Flags of the commands that plan and apply.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::assignments::Variables;
use super::flags::Flag;
use super::shared::{JsonMessages, Locking, Secrets, View, Writing};

/// What to plan and how.
#[derive(Args, Clone, Debug)]
pub struct Planning {
    /// Plan to delete everything
    #[arg(long)]
    pub destroy: Option<Flag>,
    /// Plan only to take in what has changed outside
    #[arg(long)]
    pub refresh_only: Option<Flag>,
    /// -refresh=false takes the state for true instead of reading every object
    #[arg(long)]
    pub refresh: Option<Flag>,
    /// Replace this instance although nothing else says so; may be given more than once
    #[arg(long, value_name = "ADDRESS")]
    pub replace: Vec<String>,
    /// Look only at this and what it depends on; may be given more than once
    #[arg(long, value_name = "ADDRESS")]
    pub target: Vec<String>,
    /// More ways to say what to look at
    #[command(flatten)]
    pub focus: Focus,
    /// Invoke this action, and do nothing else
    #[arg(long, value_name = "ACTION")]
    pub invoke: Vec<String>,
    /// Leave to a later run what depends on values that are not known yet, instead of stopping
    #[arg(long)]
    pub allow_deferral: Option<Flag>,
    /// How many operations go on at once
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub parallelism: i64,
    /// Where the values of variables come from
    #[command(flatten)]
    pub variables: Variables,
    /// How the state is locked
    #[command(flatten)]
    pub locking: Locking,
    /// -input=false never asks
    #[arg(long)]
    pub input: Option<Flag>,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// The state file, in place of the backend's
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Whether secrets are shown
    #[command(flatten)]
    pub secrets: Secrets,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
}

/// Arguments of `plan`.
#[derive(Args, Clone, Debug)]
pub struct Plan {
    /// What to plan and how
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

/// Arguments of `apply`.
#[derive(Args, Clone, Debug)]
pub struct Apply {
    /// What to plan and how
    #[command(flatten)]
    pub planning: Planning,
    /// Do not ask before changing anything
    #[arg(long)]
    pub auto_approve: Option<Flag>,
    /// Where to keep the state as it was, or - for nowhere
    #[arg(long, value_name = "FILE")]
    pub backup: Option<PathBuf>,
    /// Where to write the new state
    #[arg(long, value_name = "FILE")]
    pub state_out: Option<PathBuf>,
    /// Accepted: that a destroy leaves behind what is to be kept is no error
    #[arg(long)]
    pub suppress_forget_errors: Option<Flag>,
    /// A saved plan
    #[arg(value_name = "PLAN")]
    pub rest: Vec<OsString>,
}

/// Arguments of `destroy`.
#[derive(Args, Clone, Debug)]
pub struct Destroy {
    /// As for apply
    #[command(flatten)]
    pub apply: Apply,
}

/// What a partial plan looks at, as OpenTofu lets it be said.
#[derive(Args, Clone, Debug, Default)]
pub struct Focus {
    /// Look only at what this file names, one address a line, as with -target
    #[arg(long, value_name = "FILE")]
    pub target_file: Vec<PathBuf>,
    /// Look at all but this and what depends on it; may be given more than once
    #[arg(long, value_name = "ADDRESS")]
    pub exclude: Vec<String>,
    /// Look at all but what this file names, one address a line, as with -exclude
    #[arg(long, value_name = "FILE")]
    pub exclude_file: Vec<PathBuf>,
}

impl Focus {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.target_file.is_empty() && self.exclude.is_empty() && self.exclude_file.is_empty()
    }
}

/// Arguments of `refresh`.
#[derive(Args, Clone, Debug)]
pub struct Refresh {
    /// Look only at this and what it depends on; may be given more than once
    #[arg(long, value_name = "ADDRESS")]
    pub target: Vec<String>,
    /// More ways to say what to look at
    #[command(flatten)]
    pub focus: Focus,
    /// Leave out what depends on values that are not known yet, instead of stopping
    #[arg(long)]
    pub allow_deferral: Option<Flag>,
    /// How many operations go on at once
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
