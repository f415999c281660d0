//! Arguments of the commands that only read: the configuration, the state or a plan.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::flags::{Flag, PathOrNone, Variables};
use super::shared::{Common, JsonDocument, JsonMessages, Locking, Secrets, View};

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
    // A list, so that a surplus argument is reported in Terraform's words; file names need not be UTF-8.
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

#[derive(Args, Clone, Debug)]
pub struct Get {
    /// Download every module again, in the newest version that its constraint allows
    #[arg(long)]
    pub update: Option<Flag>,
    #[command(flatten)]
    pub json: JsonMessages,
    /// Directory of the test files, if it is not "tests"
    #[arg(long, value_name = "DIR")]
    pub test_directory: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Args, Clone, Debug)]
pub struct Modules {
    /// Print machine-readable output: one JSON document
    #[arg(long)]
    pub json: Option<Flag>,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Args, Clone, Debug)]
pub struct Fmt {
    /// Use -list=false to not list files whose formatting differs
    #[arg(long)]
    pub list: Option<Flag>,
    /// Use -write=false to not write to the files
    #[arg(long)]
    pub write: Option<Flag>,
    /// Show the formatting changes as a diff
    #[arg(long)]
    pub diff: Option<Flag>,
    /// Check the formatting without writing; exit with 3 if any file is not formatted
    #[arg(long)]
    pub check: Option<Flag>,
    /// Also process files in subdirectories
    #[arg(long)]
    pub recursive: Option<Flag>,
    #[command(flatten)]
    pub view: View,
    // Like other commands, `fmt` takes an empty argument as none.
    /// Files and directories to format, or "-" for standard input
    #[arg(value_name = "TARGET", value_parser = PathOrNone)]
    pub targets: Vec<PathBuf>,
}

#[derive(Args, Clone, Debug)]
pub struct Graph {
    /// Draw the graph of an operation: plan, plan-refresh-only, plan-destroy or apply
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// Draw the graph of the saved plan in this file
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Output format: dot or mermaid
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// Highlight dependency cycles in the graph instead of failing; requires -type
    #[arg(long)]
    pub draw_cycles: Option<Flag>,
    /// Accepted for compatibility, without effect
    #[arg(long, hide = true)]
    pub verbose: Option<Flag>,
    // Terraform ignores it as well, but scripts still pass it.
    /// Accepted for compatibility, without effect
    #[arg(long, value_name = "N", hide = true)]
    pub module_depth: Option<i64>,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Subcommand)]
pub enum Metadata {
    /// Print the signatures of all functions, as JSON
    Functions(Functions),
}

#[derive(Args, Clone, Debug)]
pub struct Functions {
    /// Print JSON (required)
    #[arg(long)]
    pub json: Option<Flag>,
    /// Disable colors
    #[arg(long)]
    pub no_color: Option<Flag>,
}

#[derive(Args, Clone, Debug)]
pub struct Validate {
    /// Directory of the configuration, if it is not the working directory
    #[arg(value_name = "DIR", value_parser = PathOrNone)]
    pub directory: Option<PathBuf>,
    #[command(flatten)]
    pub json: JsonDocument,
    /// Do not validate test files
    #[arg(long)]
    pub no_tests: Option<Flag>,
    /// Also validate query files
    #[arg(long)]
    pub query: Option<Flag>,
    /// Directory of the test files, if it is not "tests"
    #[arg(long, value_name = "DIR")]
    pub test_directory: Option<PathBuf>,
    #[command(flatten)]
    pub view: View,
    #[command(flatten)]
    pub variables: Variables,
}

#[derive(Args, Clone, Debug)]
pub struct Console {
    /// Evaluate against the planned state instead of the current state
    #[arg(long)]
    pub plan: Option<Flag>,
    /// Also write the results to this file, as JSON messages
    #[arg(long, value_name = "FILE")]
    pub json_into: Option<PathBuf>,
    /// Use -input=false to never prompt for input
    #[arg(long)]
    pub input: Option<Flag>,
    #[command(flatten)]
    pub variables: Variables,
    /// Read this state file instead of the backend
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    #[command(flatten)]
    pub locking: Locking,
    #[command(flatten)]
    pub view: View,
}
