//! The commands there are, and the parser of all of them.

use std::any::TypeId;

use clap::{Arg, Command, CommandFactory, Parser, Subcommand};

use super::emulator::Emulator;
use super::flags::Flag;
use super::installation::{Init, Providers};
use super::language::{Console, Fmt, Get, Graph, Metadata, Modules, Validate};
use super::objects::{ImportArguments, Taint};
use super::operation::{Apply, Destroy, Plan, Refresh};
use super::reading::{Output, Show, Version};
use super::state::State;
use super::workspace::{ForceUnlock, Workspace};

/// Plans and builds infrastructure from configurations, state files and providers as Terraform has them.
#[derive(Debug, Parser)]
#[command(
    name = "groma",
    disable_help_subcommand = true,
    disable_version_flag = true,
    arg_required_else_help = true,
    after_help = "Before the command:\n  -chdir=DIR  Work in another directory\n  -help       Show this, or the help of a command\n  -version    The same as the command version"
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub task: Task,
}

/// The parser, with help texts that speak of `program`.
pub fn command(program: &str) -> Command {
    with_bare_flags(Arguments::command()).name(program.to_owned()).bin_name(program.to_owned())
}

/// Lets each [`Flag`] of `command` and of its commands stand without a value, which means on: `-json` is `-json=true`.
fn with_bare_flags(command: Command) -> Command {
    command.mut_args(bare_if_flag).mut_subcommands(with_bare_flags)
}

fn bare_if_flag(argument: Arg) -> Arg {
    if argument.get_value_parser().type_id() != TypeId::of::<Flag>() {
        return argument;
    }
    argument.num_args(0..=1).require_equals(true).default_missing_value("true").value_name("BOOL")
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Get the directory ready: modules, providers, backend
    Init(Init),
    /// Check the configuration without looking at any object
    Validate(Validate),
    /// Show what an apply would do
    Plan(Plan),
    /// Make the objects match the configuration, or carry out a saved plan
    Apply(Apply),
    /// Delete every object that the configuration manages
    Destroy(Destroy),
    /// Show the state or a saved plan
    Show(Show),
    /// Show output values
    Output(Output),
    /// Look into the state, and change what it says
    #[command(subcommand)]
    State(State),
    /// Work with several states of one configuration
    #[command(subcommand)]
    Workspace(Workspace),
    /// The old name of workspace
    #[command(subcommand, hide = true)]
    Env(Workspace),
    /// Take away a lock that was left behind
    ForceUnlock(ForceUnlock),
    /// Take over an object that exists already
    Import(ImportArguments),
    /// Take into the state what has changed outside
    Refresh(Refresh),
    /// Have an object replaced by the next apply
    Taint(Taint),
    /// Take that back
    Untaint(Taint),
    /// Show what providers the configuration needs
    Providers(Providers),
    /// Fetch the modules that the configuration calls
    Get(Get),
    /// List the modules that the configuration calls
    Modules(Modules),
    /// Draw the resources and what they depend on
    Graph(Graph),
    /// Tell about the language
    #[command(subcommand)]
    Metadata(Metadata),
    /// Bring files into the canonical layout
    Fmt(Fmt),
    /// Evaluate expressions, one a line
    Console(Console),
    /// Show the version
    Version(Version),
    /// Use the emulator of the Cloud Control API
    #[command(subcommand)]
    Emulator(Emulator),
}
