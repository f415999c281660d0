//! The arguments of `query`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::assignments::Variables;
use super::flags::Flag;
use super::shared::View;

/// The parsed arguments of `query`.
#[derive(Args, Clone, Debug)]
pub struct Query {
    /// Options for values of variables
    #[command(flatten)]
    pub variables: Variables,
    /// Write resource and import blocks for what is found to this new file
    #[arg(long, value_name = "FILE")]
    pub generate_config_out: Option<PathBuf>,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: Option<Flag>,
    /// Options for text output
    #[command(flatten)]
    pub view: View,
    /// Nothing else may follow
    #[arg(hide = true)]
    pub rest: Vec<OsString>,
}
