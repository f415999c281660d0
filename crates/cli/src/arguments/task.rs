//! The list of commands, and the clap parser for all of them.

use clap::{Command, CommandFactory, Parser, Subcommand};

use super::assignments::Variables;
use super::cloudcontrol::CloudControl;
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

/// Plans and applies infrastructure changes, compatible with Terraform's configurations, state files and providers.
#[derive(Debug, Parser)]
#[command(
    name = "groma",
    disable_help_subcommand = true,
    disable_version_flag = true,
    // Wrappers add flags that the user has also set: the last one wins, as in Terraform.
    args_override_self = true,
    arg_required_else_help = true,
    after_help = "Before the command:\n  -chdir=DIR  Switch to this directory first\n  -help       Show this help, or the help of a command\n  -version    Alias of the version command"
)]
pub struct Arguments {
    #[command(subcommand)]
    pub task: Task,
}

/// Returns the parser, whose help texts call the program `program`.
pub fn command(program: &str) -> Command {
    Arguments::command().name(program.to_owned()).bin_name(program.to_owned())
}

/// Command with its arguments.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Prepare the working directory: install modules and providers, initialize the backend
    Init(Lazy<Init>),
    /// Check whether the configuration is valid, without accessing any remote service
    Validate(Lazy<Validate>),
    /// Show the changes that apply would make
    Plan(Lazy<Plan>),
    /// Create or update infrastructure to match the configuration, or apply a saved plan
    Apply(Lazy<Apply>),
    /// Destroy all managed infrastructure
    Destroy(Lazy<Destroy>),
    /// Show the state or a saved plan
    Show(Lazy<Show>),
    /// Show the output values of the root module
    Output(Lazy<Output>),
    /// Inspect and modify the state
    #[command(subcommand)]
    State(Lazy<State>),
    /// Manage workspaces: several states for one configuration
    #[command(subcommand)]
    Workspace(Lazy<Workspace>),
    /// Deprecated alias of workspace
    #[command(subcommand, hide = true)]
    Env(Lazy<Workspace>),
    /// Release a stale lock of the state
    ForceUnlock(Lazy<ForceUnlock>),
    /// Import an existing object into the state
    Import(Lazy<ImportArguments>),
    /// Update the state to match real objects
    Refresh(Lazy<Refresh>),
    /// Mark a resource instance for replacement by the next apply
    Taint(Lazy<Taint>),
    /// Remove the taint mark from a resource instance
    Untaint(Lazy<Taint>),
    /// Find existing objects with list blocks
    Query(Lazy<Query>),
    /// Show the providers that the configuration requires
    Providers(Lazy<Providers>),
    /// Tools for provider development and evaluation
    #[command(subcommand)]
    Provider(Lazy<Provider>),
    /// Install or upgrade modules
    Get(Lazy<Get>),
    /// List the modules of the configuration
    Modules(Lazy<Modules>),
    /// Print the dependency graph of the resources
    Graph(Lazy<Graph>),
    /// Print metadata about the language
    #[command(subcommand)]
    Metadata(Lazy<Metadata>),
    /// Reformat configuration files in the canonical style
    Fmt(Lazy<Fmt>),
    /// Evaluate expressions interactively
    Console(Lazy<Console>),
    /// Obtain and store an API token for a host
    Login(Lazy<Login>),
    /// Delete the stored API token of a host
    Logout(Lazy<Login>),
    /// Show the version, and the versions of the selected providers
    Version(Lazy<Version>),
    /// Run and inspect the emulator of the Cloud Control API
    #[command(subcommand)]
    Emulator(Lazy<Emulator>),
    /// Show resource types of AWS Cloud Control, their schemas and permissions
    #[command(subcommand, name = "cloudcontrol")]
    CloudControl(Lazy<CloudControl>),
}

impl Task {
    /// Returns the values of input variables on the command line, which the backend and module sources may depend on.
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
            | Self::Emulator(_)
            | Self::CloudControl(_) => None,
        }
    }
}
