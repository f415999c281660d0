//! Arguments of the read-only commands `show`, `output` and `version`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::flags::Flag;
use super::shared::{Common, JsonDocument, Secrets};

/// Flags of the commands that show the contents of a state or plan.
#[derive(Args, Clone, Debug)]
pub struct Reading {
    #[command(flatten)]
    pub json: JsonDocument,
    #[command(flatten)]
    pub secrets: Secrets,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Args, Clone, Debug)]
pub struct Show {
    #[command(flatten)]
    pub reading: Reading,
    /// Show the current state
    #[arg(long)]
    pub state: Option<Flag>,
    /// Show the saved plan in this file
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Show the configuration; requires -json
    #[arg(long)]
    pub config: Option<Flag>,
    /// Show the declarations of the module in this directory, which need not be initialized; requires -json
    #[arg(long, value_name = "DIR")]
    pub module: Option<PathBuf>,
    /// File of a saved plan or a state
    #[arg(value_name = "FILE")]
    pub rest: Vec<OsString>,
}

#[derive(Args, Clone, Debug)]
pub struct Output {
    #[command(flatten)]
    pub reading: Reading,
    /// Print the value of one output as a raw string
    #[arg(long)]
    pub raw: Option<Flag>,
    /// Read this state file instead of the backend
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Name of an output
    #[arg(value_name = "NAME")]
    pub rest: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct Version {
    /// Print machine-readable output: one JSON document
    #[arg(long)]
    pub json: Option<Flag>,
    /// Disable colors
    #[arg(long)]
    pub no_color: Option<Flag>,
    /// Ignored, as Terraform does: wrappers pass all their arguments on to `version`.
    #[arg(hide = true)]
    pub others: Vec<String>,
}
