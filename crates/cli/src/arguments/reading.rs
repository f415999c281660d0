//! Flags of the commands that only show something: `show`, `output` and `version`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::flags::Flag;
use super::shared::{Common, JsonDocument, Secrets};

/// The arguments that commands share which show a state or a plan.
#[derive(Args, Clone, Debug)]
pub struct Reading {
    /// The result for programs
    #[command(flatten)]
    pub json: JsonDocument,
    /// Whether secrets are shown
    #[command(flatten)]
    pub secrets: Secrets,
    /// Variables and texts
    #[command(flatten)]
    pub common: Common,
}

/// The arguments of `show`.
#[derive(Args, Clone, Debug)]
pub struct Show {
    /// Options for the shown state or plan
    #[command(flatten)]
    pub reading: Reading,
    /// Show the state
    #[arg(long)]
    pub state: Option<Flag>,
    /// Show this saved plan
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Show the configuration, which takes -json
    #[arg(long)]
    pub config: Option<Flag>,
    /// Show what the module in this folder declares, which takes -json; nothing has to be installed
    #[arg(long, value_name = "DIR")]
    pub module: Option<PathBuf>,
    /// A saved plan or a state file
    #[arg(value_name = "FILE")]
    pub rest: Vec<OsString>,
}

/// The arguments of `output`.
#[derive(Args, Clone, Debug)]
pub struct Output {
    /// Options for the shown state or plan
    #[command(flatten)]
    pub reading: Reading,
    /// Print the bare value of one output
    #[arg(long)]
    pub raw: Option<Flag>,
    /// The state file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Name of one output
    #[arg(value_name = "NAME")]
    pub rest: Vec<String>,
}

/// The arguments of `version`.
#[derive(Args, Clone, Debug)]
pub struct Version {
    /// Print JSON
    #[arg(long)]
    pub json: Option<Flag>,
    /// Show text without colours
    #[arg(long)]
    pub no_color: Option<Flag>,
    /// Passed over, as by Terraform: wrappers ask for the version with whatever they were given
    #[arg(hide = true)]
    pub others: Vec<String>,
}
