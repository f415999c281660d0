//! Flags that many commands have.

use std::path::PathBuf;

use clap::Args;

use super::assignments::Variables;
use super::flags::{Deprecations, Duration, Flag};

/// The arguments for the style of text output.
#[derive(Args, Clone, Debug)]
pub struct View {
    /// Show text without colours
    #[arg(long)]
    pub no_color: Option<Flag>,
    /// Show warnings as a short list when there are no errors
    #[arg(long)]
    pub compact_warnings: Option<Flag>,
    /// -consolidate-warnings=false shows every warning, also those that say the same of several places
    #[arg(long)]
    pub consolidate_warnings: Option<Flag>,
    /// Show errors that say the same of several places as one
    #[arg(long)]
    pub consolidate_errors: Option<Flag>,
    /// Hide progress messages
    #[arg(long)]
    pub concise: Option<Flag>,
    /// Deprecation warnings to show: module:all, module:local (only from modules of this configuration) or module:none
    #[arg(long, value_name = "module:WHICH", default_value = "module:all")]
    pub deprecation: Deprecations,
}

/// Whether a command tells what it does as messages, and where.
#[derive(Args, Clone, Debug, Default)]
pub struct JsonMessages {
    /// Print one JSON object a line
    #[arg(long)]
    pub json: Option<Flag>,
    /// Also write the output of -json to this file
    #[arg(long, value_name = "FILE")]
    pub json_into: Option<PathBuf>,
}

/// Whether the result of a command is a JSON document, and where it goes.
#[derive(Args, Clone, Debug, Default)]
pub struct JsonDocument {
    /// Print JSON
    #[arg(long)]
    pub json: Option<Flag>,
    /// Also write the output of -json to this file
    #[arg(long, value_name = "FILE")]
    pub json_into: Option<PathBuf>,
}

/// Whether secrets are shown.
#[derive(Args, Clone, Debug, Default)]
pub struct Secrets {
    /// Show sensitive values, too
    #[arg(long)]
    pub show_sensitive: Option<Flag>,
}

/// The arguments for state locking.
#[derive(Args, Clone, Debug)]
pub struct Locking {
    /// -lock=false does without the lock of the state; another run may get in the way
    #[arg(long)]
    pub lock: Option<Flag>,
    /// Wait this long for the lock
    #[arg(long, value_name = "DURATION", default_value = "0s")]
    pub lock_timeout: Duration,
}

/// Other files than the backend's.
#[derive(Args, Clone, Debug)]
pub struct StateFiles {
    /// The state file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Output file for the new state
    #[arg(long, value_name = "FILE")]
    pub state_out: Option<PathBuf>,
    /// Backup file of the previous state, or - for none
    #[arg(long, value_name = "FILE")]
    pub backup: Option<PathBuf>,
}

/// The arguments that commands share which read the configuration, if only for its backend.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// Options for values of variables
    #[command(flatten)]
    pub variables: Variables,
    /// Options for text output
    #[command(flatten)]
    pub view: View,
}

/// The arguments that commands share which change objects in the state.
#[derive(Args, Clone, Debug)]
pub struct Writing {
    /// Options for state files
    #[command(flatten)]
    pub files: StateFiles,
    /// Options for values of variables
    #[command(flatten)]
    pub variables: Variables,
    /// Options for state locking
    #[command(flatten)]
    pub locking: Locking,
    /// Options for text output
    #[command(flatten)]
    pub view: View,
}

/// The arguments that subcommands of `state` share which write a state.
#[derive(Args, Clone, Debug)]
pub struct StateAccess {
    /// Options for state locking
    #[command(flatten)]
    pub locking: Locking,
    /// Accepted for the remote backends that compare versions
    #[arg(long)]
    pub ignore_remote_version: Option<Flag>,
    /// Variables and texts
    #[command(flatten)]
    pub common: Common,
}
