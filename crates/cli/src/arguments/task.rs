//! The commands there are, and the parser of all of them.

use clap::{Command, CommandFactory, Parser, Subcommand};

use super::assignments::Variables;
use super::emulator::Emulator;
use super::installation::{Init, Providers};
use super::language::{Console, Fmt, Get, Graph, Metadata, Modules, Validate};
use super::lazy::Lazy;
use super::login::Login;
use super::objects::{ImportArguments, Taint};
use super::operation::{Apply, Destroy, Plan, Refresh};
use super::provider::Provider;
use super::query::Query;
use super::reading::{Output, Show, Version};
use super::state::State;
use super::workspace::{ForceUnlock, Workspace};

/// Plans and builds infrastructure from configurations, state files and providers as Terraform has them.
#[derive(Debug, Parser)]
#[command(
    name = "groma",
    disable_help_subcommand = true,
    disable_version_flag = true,
    // Wrappers add flags that the user has given already: the last one counts.
    args_override_self = true,
    arg_required_else_help = true,
    after_help = "Before the command:\n  -chdir=DIR  Work in another directory\n  -help       Show this, or the help of a command\n  -version    The same as the command version"
)]
pub struct Arguments {
    /// The command to run.
    #[command(subcommand)]
    pub task: Task,
}

/// The parser, with help texts that speak of `program`.
pub fn command(program: &str) -> Command {
    Arguments::command().name(program.to_owned()).bin_name(program.to_owned())
}

/// The commands of the program.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Get the directory ready: modules, providers, backend
    Init(Lazy<Init>),
    /// Check the configuration without looking at any object
    Validate(Lazy<Validate>),
    /// Show what an apply would do
    Plan(Lazy<Plan>),
    /// Make the objects match the configuration, or carry out a saved plan
    Apply(Lazy<Apply>),
    /// Delete every object that the configuration manages
    Destroy(Lazy<Destroy>),
    /// Show the state or a saved plan
    Show(Lazy<Show>),
    /// Show output values
    Output(Lazy<Output>),
    /// Look into the state, and change what it says
    #[command(subcommand)]
    State(Lazy<State>),
    /// Work with several states of one configuration
    #[command(subcommand)]
    Workspace(Lazy<Workspace>),
    /// The old name of workspace
    #[command(subcommand, hide = true)]
    Env(Lazy<Workspace>),
    /// Take away a lock that was left behind
    ForceUnlock(Lazy<ForceUnlock>),
    /// Take over an object that exists already
    Import(Lazy<ImportArguments>),
    /// Take into the state what has changed outside
    Refresh(Lazy<Refresh>),
    /// Have an object replaced by the next apply
    Taint(Lazy<Taint>),
    /// Take that back
    Untaint(Lazy<Taint>),
    /// Search for objects that exist already, with list blocks
    Query(Lazy<Query>),
    /// Show what providers the configuration needs
    Providers(Lazy<Providers>),
    /// For those who write providers, and those who choose one
    #[command(subcommand)]
    Provider(Lazy<Provider>),
    /// Fetch the modules that the configuration calls
    Get(Lazy<Get>),
    /// List the modules that the configuration calls
    Modules(Lazy<Modules>),
    /// Draw the resources and what they depend on
    Graph(Lazy<Graph>),
    /// Print information about the language
    #[command(subcommand)]
    Metadata(Lazy<Metadata>),
    /// Bring files into the canonical layout
    Fmt(Lazy<Fmt>),
    /// Evaluate expressions, one a line
    Console(Lazy<Console>),
    /// Get a token from a host, and keep it
    Login(Lazy<Login>),
    /// Forget the token of a host
    Logout(Lazy<Login>),
    /// Show the version
    Version(Lazy<Version>),
    /// Use the emulator of the Cloud Control API
    #[command(subcommand)]
    Emulator(Lazy<Emulator>),
}

impl Task {
    /// The values of variables on the command line: the backend and the sources of modules may depend on them.
    pub fn variables(&self) -> Option<&Variables> {
        match self {
            Self::Init(arguments) => Some(&arguments.variables),
            Self::Get(arguments) => Some(&arguments.common.variables),
            Self::Modules(arguments) => Some(&arguments.common.variables),
            Self::Graph(arguments) => Some(&arguments.common.variables),
            Self::Validate(arguments) => Some(&arguments.variables),
            Self::Plan(arguments) => Some(&arguments.planning.variables),
            Self::Apply(arguments) => Some(&arguments.planning.variables),
            Self::Destroy(arguments) => Some(&arguments.apply.planning.variables),
            Self::Refresh(arguments) => Some(&arguments.writing.variables),
            Self::Import(arguments) => Some(&arguments.writing.variables),
            Self::Taint(arguments) | Self::Untaint(arguments) => Some(&arguments.writing.variables),
            Self::Query(arguments) => Some(&arguments.variables),
            Self::State(command) => command.variables(),
            Self::Console(arguments) => Some(&arguments.variables),
            Self::Providers(arguments) => Some(arguments.variables()),
            Self::Show(arguments) => Some(&arguments.reading.common.variables),
            Self::Output(arguments) => Some(&arguments.reading.common.variables),
            Self::Workspace(command) | Self::Env(command) => Some(command.variables()),
            Self::ForceUnlock(arguments) => Some(&arguments.variables),
            Self::Provider(_)
            | Self::Metadata(_)
            | Self::Fmt(_)
            | Self::Login(_)
            | Self::Logout(_)
            | Self::Version(_)
            | Self::Emulator(_) => None,
        }
    }
}
