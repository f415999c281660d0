//! Commands about single objects: `import`, `taint` and `untaint`.

use std::path::PathBuf;

use clap::Args;

use super::flags::Flag;
use super::shared::{JsonMessages, Writing};

/// The arguments of `import`.
#[derive(Args, Clone, Debug)]
pub struct ImportArguments {
    /// The folder with the configuration that configures the provider
    #[arg(long, value_name = "DIR")]
    pub config: Option<PathBuf>,
    /// Accepted for remote backends that compare versions
    #[arg(long)]
    pub ignore_remote_version: Option<Flag>,
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
    /// The address in the configuration, and the id of the object
    #[arg(value_name = "ADDR ID", trailing_var_arg = true)]
    pub rest: Vec<String>,
}

/// Arguments of `taint` and `untaint`.
#[derive(Args, Clone, Debug)]
pub struct Taint {
    /// Do not fail when there is no such instance
    #[arg(long)]
    pub allow_missing: Option<Flag>,
    /// Accepted for remote backends that compare versions
    #[arg(long)]
    pub ignore_remote_version: Option<Flag>,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// The state and what it takes to write it
    #[command(flatten)]
    pub writing: Writing,
    /// The instance
    #[arg(value_name = "ADDRESS")]
    pub rest: Vec<String>,
}
