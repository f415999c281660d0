//! Flags of the commands that work on the configuration alone.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::assignments::Variables;
use super::flags::{Flag, PathOrNone};
use super::shared::{Common, JsonDocument, JsonMessages, Locking, View};

/// The arguments of `get`.
#[derive(Args, Clone, Debug)]
pub struct Get {
    /// Fetch every module again, in its newest version
    #[arg(long)]
    pub update: Option<Flag>,
    /// Messages for programs
    #[command(flatten)]
    pub json: JsonMessages,
    /// The folder with test files
    #[arg(long, value_name = "DIR")]
    pub test_directory: Option<PathBuf>,
    /// Variables and texts
    #[command(flatten)]
    pub common: Common,
}

/// The arguments of `modules`.
#[derive(Args, Clone, Debug)]
pub struct Modules {
    /// Print JSON
    #[arg(long)]
    pub json: Option<Flag>,
    /// Variables and texts
    #[command(flatten)]
    pub common: Common,
}

/// The arguments of `fmt`.
#[derive(Args, Clone, Debug)]
pub struct Fmt {
    /// -list=false does not name the files that differ
    #[arg(long)]
    pub list: Option<Flag>,
    /// -write=false leaves the files as they are
    #[arg(long)]
    pub write: Option<Flag>,
    /// Show the differences
    #[arg(long)]
    pub diff: Option<Flag>,
    /// Write nothing, and exit with 3 if a file differs
    #[arg(long)]
    pub check: Option<Flag>,
    /// Work on the folders inside, too
    #[arg(long)]
    pub recursive: Option<Flag>,
    /// Options for text output
    #[command(flatten)]
    pub view: View,
    /// Files and folders, or - for standard input
    #[arg(value_name = "TARGET", value_parser = PathOrNone)]
    pub targets: Vec<PathBuf>,
}

/// The arguments of `graph`.
#[derive(Args, Clone, Debug)]
pub struct Graph {
    /// The graph of an operation: plan, plan-refresh-only, plan-destroy or apply
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// The graph of a saved plan
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Output format: dot or mermaid
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// Draw references that lead in a circle, marked, instead of refusing them (with -type)
    #[arg(long)]
    pub draw_cycles: Option<Flag>,
    /// Has no meaning any more
    #[arg(long, hide = true)]
    pub verbose: Option<Flag>,
    /// Has no meaning any more
    #[arg(long, value_name = "N", hide = true)]
    pub module_depth: Option<i64>,
    /// Variables and texts
    #[command(flatten)]
    pub common: Common,
}

/// The subcommands of `metadata`.
#[derive(Debug, Subcommand)]
pub enum Metadata {
    /// Print the signatures of the functions
    Functions(Functions),
}

/// Arguments of `metadata functions`.
#[derive(Args, Clone, Debug)]
pub struct Functions {
    /// Print JSON; there is no other form
    #[arg(long)]
    pub json: Option<Flag>,
    /// Show text without colours
    #[arg(long)]
    pub no_color: Option<Flag>,
}

/// The arguments of `validate`.
#[derive(Args, Clone, Debug)]
pub struct Validate {
    /// The folder of the configuration, if it is another one
    #[arg(value_name = "DIR", value_parser = PathOrNone)]
    pub directory: Option<PathBuf>,
    /// The result for programs
    #[command(flatten)]
    pub json: JsonDocument,
    /// Leave test files alone
    #[arg(long)]
    pub no_tests: Option<Flag>,
    /// Check the query files too
    #[arg(long)]
    pub query: Option<Flag>,
    /// The folder with test files, if it is not "tests"
    #[arg(long, value_name = "DIR")]
    pub test_directory: Option<PathBuf>,
    /// Options for text output
    #[command(flatten)]
    pub view: View,
    /// Options for values of variables
    #[command(flatten)]
    pub variables: Variables,
}

/// The arguments of `console`.
#[derive(Args, Clone, Debug)]
pub struct Console {
    /// See what a plan would make of it, and not only what is in the state
    #[arg(long)]
    pub plan: Option<Flag>,
    /// Write the answers to this file too, as JSON messages
    #[arg(long, value_name = "FILE")]
    pub json_into: Option<PathBuf>,
    /// -input=false never asks
    #[arg(long)]
    pub input: Option<Flag>,
    /// Options for values of variables
    #[command(flatten)]
    pub variables: Variables,
    /// The state file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Accepted: looking at a state locks nothing
    #[command(flatten)]
    pub locking: Locking,
    /// Options for text output
    #[command(flatten)]
    pub view: View,
}
