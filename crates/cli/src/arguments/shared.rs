//! Flags that many commands have.

use std::path::PathBuf;

use clap::Args;

use super::assignments::Variables;
use super::flags::{Deprecations, Duration, Flag};

/// How texts are shown.
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
    /// Leave out what only tells of progress
    #[arg(long)]
    pub concise: Option<Flag>,
    /// Which uses of deprecated variables and outputs are told of: module:all, module:local (only where they can be mended here) or
    /// module:none
    #[arg(long, value_name = "module:WHICH", default_value = "module:all")]
    pub deprecation: Deprecations,
}

/// Whether a command tells what it does as messages, and where.
#[derive(Args, Clone, Debug, Default)]
pub struct JsonMessages {
    /// Print one JSON object a line
    #[arg(long)]
    pub json: Option<Flag>,
    /// Write what -json would print to this file, beside what is shown
    #[arg(long, value_name = "FILE")]
    pub json_into: Option<PathBuf>,
}

/// Whether the result of a command is a JSON document, and where it goes.
#[derive(Args, Clone, Debug, Default)]
pub struct JsonDocument {
    /// Print JSON
    #[arg(long)]
    pub json: Option<Flag>,
    /// Write what -json would print to this file, beside what is shown
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

/// How the state is locked.
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
    /// Where to write the new state
    #[arg(long, value_name = "FILE")]
    pub state_out: Option<PathBuf>,
    /// Where to keep the state as it was, or - for nowhere
    #[arg(long, value_name = "FILE")]
    pub backup: Option<PathBuf>,
}

/// What the commands have that read the configuration, if only for the sake of its backend.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// Where the values of variables come from
    #[command(flatten)]
    pub variables: Variables,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
}

/// What the commands have that change an object in the state, or all of them.
#[derive(Args, Clone, Debug)]
pub struct Writing {
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
}

/// What the commands of `state` have that write a state.
#[derive(Args, Clone, Debug)]
pub struct StateAccess {
    /// How the state is locked
    #[command(flatten)]
    pub locking: Locking,
    /// Accepted for the remote backends that compare versions
    #[arg(long)]
    pub ignore_remote_version: Option<Flag>,
    /// Variables and texts
    #[command(flatten)]
    pub common: Common,
}
