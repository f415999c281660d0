//! Arguments of the commands for single objects: `import`, `taint` and `untaint`.

use std::path::PathBuf;

use clap::Args;

use super::flags::Flag;
use super::shared::{JsonMessages, Writing};

#[derive(Args, Clone, Debug)]
pub struct ImportArguments {
    /// Directory of the configuration that declares the resource and its provider
    #[arg(long, value_name = "DIR")]
    pub config: Option<PathBuf>,
    /// Accepted for compatibility; only remote backends compare versions
    #[arg(long)]
    pub ignore_remote_version: Option<Flag>,
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
    /// Address of the resource instance, and import ID of the object
    #[arg(value_name = "ADDR ID", trailing_var_arg = true)]
    pub rest: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct Taint {
    /// Succeed even if the instance does not exist
    #[arg(long)]
    pub allow_missing: Option<Flag>,
    /// Accepted for compatibility; only remote backends compare versions
    #[arg(long)]
    pub ignore_remote_version: Option<Flag>,
    #[command(flatten)]
    pub json: JsonMessages,
    #[command(flatten)]
    pub writing: Writing,
    /// Address of the resource instance
    #[arg(value_name = "ADDRESS")]
    pub rest: Vec<String>,
}
