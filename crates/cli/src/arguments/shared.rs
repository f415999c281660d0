//! Flags that several commands share.

use std::path::PathBuf;

use clap::Args;

use super::flags::{Deprecations, Duration, Flag, Variables};

/// Flags for the presentation of messages.
#[derive(Args, Clone, Debug)]
pub struct View {
    /// Disable colors
    #[arg(long)]
    pub no_color: Option<Flag>,
    /// Show only the summaries of warnings, unless there are errors
    #[arg(long)]
    pub compact_warnings: Option<Flag>,
    /// Use -consolidate-warnings=false to show similar warnings separately
    #[arg(long)]
    pub consolidate_warnings: Option<Flag>,
    /// Combine similar errors into one
    #[arg(long)]
    pub consolidate_errors: Option<Flag>,
    /// Hide progress messages
    #[arg(long)]
    pub concise: Option<Flag>,
    /// Warn about deprecated variables and outputs: module:all, module:local (only where fixable here) or module:none
    #[arg(long, value_name = "module:FILTER", default_value = "module:all")]
    pub deprecation: Deprecations,
}

/// Flags for a command whose output is a stream of JSON messages.
#[derive(Args, Clone, Debug, Default)]
pub struct JsonMessages {
    /// Print machine-readable output: one JSON message per line
    #[arg(long)]
    pub json: Option<Flag>,
    /// Write the output of -json to this file, in addition to the normal output
    #[arg(long, value_name = "FILE")]
    pub json_into: Option<PathBuf>,
}

/// Flags for a command whose output is one JSON document.
#[derive(Args, Clone, Debug, Default)]
pub struct JsonDocument {
    /// Print machine-readable output: one JSON document
    #[arg(long)]
    pub json: Option<Flag>,
    /// Write the output of -json to this file, in addition to the normal output
    #[arg(long, value_name = "FILE")]
    pub json_into: Option<PathBuf>,
}

/// Flag that reveals sensitive values.
#[derive(Args, Clone, Debug, Default)]
pub struct Secrets {
    /// Show sensitive values instead of hiding them
    #[arg(long)]
    pub show_sensitive: Option<Flag>,
}

/// Flags for the state lock.
#[derive(Args, Clone, Debug)]
pub struct Locking {
    /// Use -lock=false to not lock the state; unsafe if others run commands at the same time
    #[arg(long)]
    pub lock: Option<Flag>,
    /// Wait at most this long for the state lock
    #[arg(long, value_name = "DURATION", default_value = "0s")]
    pub lock_timeout: Duration,
}

/// Flags that replace the state files of the backend.
#[derive(Args, Clone, Debug)]
pub struct StateFiles {
    /// Read the state from this file instead of the backend
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Write the new state to this file
    #[arg(long, value_name = "FILE")]
    pub state_out: Option<PathBuf>,
    /// Write the backup of the previous state to this file; "-" disables the backup
    #[arg(long, value_name = "FILE")]
    pub backup: Option<PathBuf>,
}

/// Flags of every command that reads the configuration, if only to find the backend.
#[derive(Args, Clone, Debug)]
pub struct Common {
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub view: View,
}

/// Flags of the commands outside `state` that change objects in the state.
#[derive(Args, Clone, Debug)]
pub struct Writing {
    #[command(flatten)]
    pub files: StateFiles,
    #[command(flatten)]
    pub variables: Variables,
    #[command(flatten)]
    pub locking: Locking,
    #[command(flatten)]
    pub view: View,
}

/// Flags of the `state` subcommands that write the state.
#[derive(Args, Clone, Debug)]
pub struct StateAccess {
    #[command(flatten)]
    pub locking: Locking,
    /// Accepted for compatibility; only remote backends compare versions
    #[arg(long)]
    pub ignore_remote_version: Option<Flag>,
    #[command(flatten)]
    pub common: Common,
}
