//! The list of commands, and the clap parser for all of them.
//!
//! The parser builds the flags of a command when it is used: building those of all commands would slow down every start.

use std::ops::Deref;

use clap::{ArgMatches, Args, Command, CommandFactory, Error, FromArgMatches, Parser, Subcommand};

use super::cloudcontrol::CloudControl;
use super::emulator::Emulator;
use super::flags::{Variables, with_bare_flags};
use super::installation::{Init, Login, Providers};
use super::operation::{Apply, Destroy, Plan, Query, Refresh};
use super::provider::Provider;
use super::reading::{Console, Fmt, Get, Graph, Metadata, Modules, Output, Show, Validate, Version};
use super::state::{ImportArguments, State, Taint};
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
            // Every command that loads the configuration lists its variables here, because module sources may depend on
            // them.
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
            Self::CloudControl(command) => command.variables(),
            // These commands evaluate no configuration.
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

/// Arguments or subcommands whose definition is built on first use.
#[derive(Clone, Debug)]
pub struct Lazy<T>(pub T);

impl<T> Deref for Lazy<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: FromArgMatches> FromArgMatches for Lazy<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for Lazy<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| augmented(command, T::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        // Flags of a command are only added when clap descends into it, which keeps the start fast.
        command.defer(|command| augmented(command, T::augment_args_for_update))
    }
}

impl<T: Subcommand> Subcommand for Lazy<T> {
    fn augment_subcommands(command: Command) -> Command {
        command.defer(|command| augmented(command, T::augment_subcommands))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        command.defer(|command| augmented(command, T::augment_subcommands_for_update))
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}

/// Adds flags to `command` but keeps its description, which `augment` would replace by the doc comment of the argument type.
fn augmented(command: Command, augment: fn(Command) -> Command) -> Command {
    let about = command.get_about().cloned();
    let command = with_bare_flags(augment(command));
    match about {
        Some(about) => command.about(about),
        None => command,
    }
}
