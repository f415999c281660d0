//! Commands about single objects: `import`, `refresh`, `taint` and `untaint`.

use std::path::PathBuf;

use clap::Args;

use super::assignments::Variables;
use super::flags::Flag;
use super::model::{Apply, Planning};
use super::shared::{Locking, View};

/// Arguments of `import`.
#[derive(Args, Clone, Debug)]
pub struct ImportArguments {
    /// The folder with the configuration that configures the provider
    #[arg(long, value_name = "DIR")]
    pub config: Option<PathBuf>,
    /// Accepted for remote backends that compare versions
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub ignore_remote_version: Option<Flag>,
    /// How many operations go on at once
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub parallelism: i64,
    /// -input=false never asks
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub input: Option<Flag>,
    /// Where the state is
    #[command(flatten)]
    pub files: StateFiles,
    /// Where the values of variables come from
    #[command(flatten)]
    pub variables: Variables,
    /// How the state is locked
    #[command(flatten)]
    pub locking: Locking,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
    /// The address in the configuration, and the id of the object
    #[arg(value_name = "ADDR ID")]
    pub rest: Vec<String>,
}

/// Other files than the backend's.
#[derive(Args, Clone, Debug)]
pub struct StateFiles {
    /// The state file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Where to write the new state
    #[arg(long, value_name = "FILE")]
    pub state_out: Option<PathBuf>,
    /// Where to keep the state as it was, or - for nowhere
    #[arg(long, value_name = "FILE")]
    pub backup: Option<PathBuf>,
}

/// Arguments of `refresh`.
#[derive(Args, Clone, Debug)]
pub struct Refresh {
    /// Look only at this and what it depends on; may be given more than once
    #[arg(long, value_name = "ADDRESS")]
    pub target: Vec<String>,
    /// How many operations go on at once
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub parallelism: i64,
    /// -input=false never asks
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub input: Option<Flag>,
    /// Print one JSON object a line
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub json: Option<Flag>,
    /// Where the state is
    #[command(flatten)]
    pub files: StateFiles,
    /// Where the values of variables come from
    #[command(flatten)]
    pub variables: Variables,
    /// How the state is locked
    #[command(flatten)]
    pub locking: Locking,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
    /// Nothing else may follow
    #[arg(hide = true)]
    pub rest: Vec<std::ffi::OsString>,
}

impl Refresh {
    /// The apply that does the same: one that only takes in what has changed outside, and asks nobody.
    pub fn into_apply(self) -> Apply {
        let planning = Planning {
            destroy: None,
            refresh_only: Some(Flag::On),
            refresh: None,
            replace: Vec::new(),
            target: self.target,
            parallelism: self.parallelism,
            variables: self.variables,
            locking: self.locking,
            input: self.input,
            json: self.json,
            state: self.files.state,
            view: self.view,
        };
        Apply {
            planning,
            auto_approve: Some(Flag::On),
            backup: self.files.backup,
            state_out: self.files.state_out,
            rest: self.rest,
        }
    }
}

/// Arguments of `taint` and `untaint`.
#[derive(Args, Clone, Debug)]
pub struct Taint {
    /// Do not fail when there is no such instance
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub allow_missing: Option<Flag>,
    /// Accepted for remote backends that compare versions
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub ignore_remote_version: Option<Flag>,
    /// Where the state is
    #[command(flatten)]
    pub files: StateFiles,
    /// Where the values of variables come from
    #[command(flatten)]
    pub variables: Variables,
    /// How the state is locked
    #[command(flatten)]
    pub locking: Locking,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
    /// The instance
    #[arg(value_name = "ADDRESS")]
    pub rest: Vec<String>,
}
