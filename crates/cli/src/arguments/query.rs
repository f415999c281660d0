//! Arguments of `query`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::assignments::Variables;
use super::flags::Flag;
use super::shared::View;

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
